"""Sends the same requests for archives with the same captures in different layouts, and compares the responses.

    .venv/bin/python Scripts/lib/compare_layouts.py FILE.wacz FILE.wacz…

The requests are those of compare_with_pywb.py. Only names, offsets and lengths of WARCs may differ.
"""

import re
import sys
import tempfile
from pathlib import Path

import compare_with_pywb
import serving

PLACE = re.compile(r'"(offset|length)": "\d+",? ?')


def essence(port, archive, request):
    response = compare_with_pywb.Response.of(port, f"/c/{archive}", request, request.path)
    whole = response.essence()
    if response.is_list and len(whole) == 2:
        text = "output=text" in request.path
        lines = [" ".join(line.split(" ")[:6]) if text else PLACE.sub("", line) for line in whole[1]]
        return whole[0], lines
    return whole


def main(files):
    requests = [each for each in compare_with_pywb.CDX + compare_with_pywb.MEMENTO if each.archive == "small"]
    with tempfile.TemporaryDirectory() as store:
        archives = [(Path(path).name, serving.import_file(store, path)[0]) for path in files]
        with serving.serve(store) as (_, port):
            differing = 0
            for request in requests:
                responses = [(name, essence(port, archive, request)) for name, archive in archives]
                for name, response in responses[1:]:
                    if response != responses[0][1]:
                        differing += 1
                        print(f"DIFFERS: {compare_with_pywb.shown(request)}: {name} and {responses[0][0]}")
                        print(f"  {str(response)[:400]}\n  {str(responses[0][1])[:400]}")
    print(f"{len(requests)} requests for {len(archives)} archives, {differing} responses differ from the first archive's")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
