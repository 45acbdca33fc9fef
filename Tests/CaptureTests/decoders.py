"""Decoders as strict as those of the published clients: required keys, types, closed lists, dates without fractions.

A Swift `Decodable` refuses a missing key, null for a value that isn't optional, a Boolean or a fraction for an Int, and a raw value that an
enum doesn't have. `ISO8601DateFormatter` without options refuses fractions of seconds.
"""

import re
from datetime import datetime, timedelta, timezone
from uuid import UUID

STATUSES = ("pending", "downloading", "completed", "failed")
STATES = ("queued", "started", "downloading", "preview_ready", "completed", "failed", "cancelled", "aborted_by_system")
STAGES = ("analysing", "fetching", "merging", "checking", "storing")
GENRES = ("tiktok", "instagram", "youtube", "pdf", "ebook", "unknown")
WAITS = ("tool", "disk", "retry", "site")
CODES = ("not_found", "private", "removed", "login_required", "geo_blocked", "unsupported", "page_unsupported", "live", "playlist",
    "too_large", "too_slow", "drm", "rate_limited", "network", "tool_failed", "tool_missing", "no_file", "disk_full", "timeout", "damaged",
    "aborted", "quality", "no_video", "host_refused", "sandbox_unavailable")


class DecodingError(AssertionError):
    pass


def text(value):
    if not isinstance(value, str):
        raise DecodingError(f"not a String: {value!r}")
    return value


def integer(value):
    if type(value) is not int or not -(1 << 63) <= value < 1 << 63:
        raise DecodingError(f"not an Int: {value!r}")
    return value


def number(value):
    if type(value) not in (int, float):
        raise DecodingError(f"not a Double: {value!r}")
    return value


def boolean(value):
    if type(value) is not bool:
        raise DecodingError(f"not a Bool: {value!r}")
    return value


def date(value):
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text(value)):
        raise DecodingError(f"not a date of ISO8601DateFormatter: {value!r}")
    found = datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    if abs(datetime.now(timezone.utc) - found) > timedelta(hours=1):
        raise DecodingError(f"not a time of this test: {value}")
    return found


def one_of(*values):
    def decode(value):
        if text(value) not in values:
            raise DecodingError(f"{value!r} is none of {values}")
        return value
    return decode


def identifier(value):
    if str(UUID(text(value))) != value.lower():
        raise DecodingError(f"not a UUID: {value!r}")
    return value


def optional(decode):
    return lambda value: None if value is None else decode(value)


def every(decode):
    def decode_list(value):
        if not isinstance(value, list):
            raise DecodingError(f"not an Array: {value!r}")
        return [decode(item) for item in value]
    return decode_list


def keyed(**keys):
    """An object. A key whose decoder is `optional` may be missing, as for `decodeIfPresent`."""
    def decode(value):
        if not isinstance(value, dict):
            raise DecodingError(f"not an object: {value!r}")
        found = {}
        for key, decode_one in keys.items():
            if key not in value and getattr(decode_one, "__qualname__", "").startswith("optional"):
                found[key] = None
                continue
            if key not in value:
                raise DecodingError(f"no {key} in {value}")
            try:
                found[key] = decode_one(value[key])
            except (DecodingError, ValueError) as error:
                raise DecodingError(f"{key}: {error}") from error
        return found
    return decode


def all_keys(**keys):
    """An object in which each key is written, also for null."""
    decode = keyed(**keys)

    def decode_all(value):
        found = decode(value)
        missing = set(keys) - set(value)
        if missing:
            raise DecodingError(f"not written: {sorted(missing)}")
        return found
    return decode_all


# The older client
older_answer = keyed(status=text, message=text, timestamp=integer, download_id=optional(text), error=optional(text))

# v1
v1_answer = keyed(success=boolean, download_id=text, message=text, status=one_of(*STATUSES), submitted_at=date)
v1_status = keyed(
    download_id=text, url=text, status=one_of(*STATUSES), submitted_at=date, started_at=optional(date), completed_at=optional(date),
    file_path=optional(text), file_size=optional(integer), error_message=optional(text))
v1_health = keyed(status=text, timestamp=date, version=text, database=keyed(connected=boolean, total_downloads=integer))
v1_history = every(v1_status)
v1_error = keyed(error=text, message=text, request_id=optional(text))

# v2
v2_answer = keyed(
    success=boolean, download_id=identifier, message=text, status=one_of(*STATUSES), username=text, genre=one_of(*GENRES),
    submitted_at=date)
v2_status = all_keys(
    download_id=identifier, url=text, status=one_of(*STATUSES), username=text, genre=one_of(*GENRES), submitted_at=date,
    started_at=optional(date), completed_at=optional(date), file_path=optional(text), file_size=optional(integer),
    error_message=optional(text), genre_detection_error=optional(text))
v2_history = every(v2_status)
v2_health = v1_health
v2_text_error = keyed(detail=text)
v2_list_error = keyed(detail=every(keyed(type=text, loc=every(text), msg=text)))

# What we add
own_answer = all_keys(
    success=boolean, download_id=identifier, message=text, status=text, state=one_of(*STATES), username=text, genre=one_of(*GENRES),
    service=text, submitted_at=date, timestamp=integer)
own_status = all_keys(
    download_id=identifier, url=text, status=one_of(*STATUSES), username=text, genre=one_of(*GENRES), submitted_at=date,
    started_at=optional(date), completed_at=optional(date), file_path=optional(text), file_size=optional(integer),
    error_message=optional(text), genre_detection_error=optional(text), state=one_of(*STATES), stage=optional(one_of(*STAGES)),
    title=optional(text), service=text,
    progress=optional(all_keys(percent=optional(number), bytes=integer, total=optional(integer), speed=optional(integer),
        eta=optional(integer))),
    attempt=integer, not_before=optional(text), waiting_for=optional(one_of(*WAITS)), archive=optional(text),
    replay_url=optional(text), log_id=optional(text), client_id=optional(text), error_code=optional(one_of(*CODES)),
    quality_fallback=boolean, incomplete=optional(text), replay_check=optional(text), options=keyed())
own_health = keyed(
    status=one_of("healthy"), timestamp=date, version=one_of("2.0.0"),
    database=keyed(connected=boolean, total_downloads=integer), software=text,
    tools=every(keyed(name=text, version=optional(text), path=optional(text))),
    queue=keyed(queued=integer, running=integer, waiting_for=optional(text)))
own_error = all_keys(success=boolean, status=one_of("error"), error=text, message=text, request_id=text, timestamp=integer,
    detail=lambda value: value)
own_log = all_keys(log_id=text, total=integer, offset=integer, lines=every(text))

# Which status belongs to which state
STATUS_OF = {"queued": "pending", "started": "downloading", "downloading": "downloading", "preview_ready": "completed",
    "completed": "completed",    "failed": "failed", "cancelled": "failed", "aborted_by_system": "failed"}
