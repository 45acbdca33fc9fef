"""A reader's steps through Fixtures/sample.wacz. Expected texts are in Fixtures/site, times in sample.json."""

import re

from .expecting import expect
from .viewer import Viewer, click_in_page

SITE = "https://fieldguide.example"
TITLE = "Tidepool Field Guide"
OLD_TEXTS = ["What the sea leaves behind", "Autumn edition", "Spring edition", "Walk out an hour before low water"]


def journey(page, address):
    """Opens an archive from the library, and uses everything that its pages consist of."""
    read_all(open_page_from_library(page, address))


def read_all(viewer):
    """Starts at the archive's main page, which is shown."""
    read_home(viewer)
    choose_earlier_capture(viewer)
    read_species(viewer)
    go_back_and_forward(viewer)
    follow_redirect(viewer)
    play_film(viewer)
    send_form(viewer)
    read_inner_frame(viewer)
    read_non_ascii_url(viewer)
    read_archived_404(viewer)
    open_uncaptured_page(viewer)


def open_page_from_library(page, address):
    page.goto(address)
    page.get_by_role("button", name=f"More actions for {TITLE}").click()
    page.get_by_role("menuitem", name="Show pages").click()
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()
    open_tab(page, "Pages")
    row = page.get_by_role("listitem").filter(has_text="21 November 2024, 09:00 UTC")
    row.get_by_role("link", name=TITLE, exact=True).click()
    return Viewer(page)


def open_tab(page, name):
    """Opens a tab on the page of an archive or a collection. Some tabs have a number after their name."""
    page.get_by_role("navigation", name="Contents").get_by_role("link", name=re.compile(rf"^{name}\b")).click()


def expect_home(viewer):
    expect(viewer.read("#edition")).to_have_text("Autumn edition")
    viewer.expect_at(f"{SITE}/", TITLE, "21 November 2024, 09:00 UTC", "20241121090000")


def read_home(viewer):
    """Text, and a style sheet and an image that are revisits of captures half a year older."""
    expect_home(viewer)
    expect(viewer.read("main")).to_contain_text("every tide brings a new line of wrack along the beach")
    expect(viewer.read("header.bar")).to_have_css("background-color", "rgb(15, 76, 92)")
    assert viewer.natural_width("#shore") == 960


def choose_earlier_capture(viewer):
    viewer.page.get_by_role("button", name="Previous capture").click()
    expect(viewer.read("#edition")).to_have_text("Spring edition")
    expect(viewer.read("main")).to_contain_text("limpets no bigger than a full stop")
    viewer.expect_at(f"{SITE}/", TITLE, "3 May 2024, 10:15 UTC", "20240503101500")
    viewer.page.get_by_role("button", name="Next capture").click()
    expect_home(viewer)


def expect_species(viewer):
    """A module that imports another, data from fetch() and XMLHttpRequest, and images."""
    expect(viewer.read("#species li")).to_have_count(3)
    expect(viewer.read("#species")).to_contain_text(re.compile("Common limpet.*Beadlet anemone.*Shore crab", re.S))
    expect(viewer.read("#tide")).to_have_text("Low water at Skerry Bay: 06:42, high water: 12:55.")
    viewer.expect_at(f"{SITE}/species/", f"Species - {TITLE}", "21 November 2024, 09:00 UTC", "20241121090006")


def read_species(viewer):
    viewer.follow("Species")
    expect_species(viewer)
    assert viewer.natural_width('#species img[src*="limpet.svg"]') == 218
    assert viewer.natural_width('#species img[src*="anemone.png"]') == 640


def go_back_and_forward(viewer):
    viewer.page.get_by_role("button", name="Back", exact=True).click()
    expect_home(viewer)
    viewer.page.get_by_role("button", name="Forward", exact=True).click()
    expect_species(viewer)
    viewer.page.go_back()
    expect_home(viewer)


def follow_redirect(viewer):
    viewer.follow("The old address of the species list")
    expect_species(viewer)


def play_film(viewer):
    viewer.follow("Film")
    viewer.expect_at(f"{SITE}/film.html", f"A short film - {TITLE}", "21 November 2024, 09:00 UTC", "20241121090045")
    film = viewer.read("#film")
    expect(film).to_be_visible()
    played, sought = film.evaluate("""async (film) => {
        const reach = (time) => new Promise((done, failed) => {
            const look = () => film.currentTime >= time && !film.seeking && done(film.currentTime);
            film.addEventListener("timeupdate", look);
            film.addEventListener("seeked", look);
            film.addEventListener("error", () => failed(new Error("the film can't be played")));
            setTimeout(() => failed(new Error(`the film stands at ${film.currentTime} s, not ${time}`)), 20000);
            look();
        });
        await film.play();
        const played = await reach(0.5);
        film.currentTime = 4;
        const sought = await reach(4.2);
        film.pause();
        return [played, sought];
    }""")
    assert 0.5 <= played < 4 <= sought
    assert film.evaluate("film => [film.videoWidth, Math.round(film.duration)]") == [640, 6]


def send_form(viewer):
    viewer.follow("Report a sighting")
    click_in_page(viewer.archived.get_by_role("button", name="Send the report"))
    expect(viewer.read("#answer")).to_have_text(
        "Your report of 3 shore crabs at Skerry Bay is number 1207 of the yearly count.")


def read_inner_frame(viewer):
    viewer.follow("Tides")
    expect(viewer.archived.frame_locator("#clock").locator("#state")).to_have_text("The hand points to a falling tide.")
    viewer.expect_at(
        f"{SITE}/tides.html", f"How the tide works - {TITLE}", "21 November 2024, 09:00 UTC", "20241121090040")


def read_non_ascii_url(viewer):
    return_home(viewer)
    viewer.follow("Words from other shores")
    expect(viewer.read("main")).to_contain_text("Die Flügelschnecke trägt ihren Namen")
    viewer.expect_at(
        f"{SITE}/w%C3%B6rter/fl%C3%BCgelschnecke.html", f"Wörter von anderen Küsten - {TITLE}",
        "21 November 2024, 09:01 UTC", "20241121090100")


def read_archived_404(viewer):
    return_home(viewer)
    viewer.follow("A creature that we could not confirm")
    expect(viewer.read("#missing")).to_have_text(
        "The kraken has been reported twice and photographed never, so it has no page.")
    expect(viewer.address).to_have_value(f"{SITE}/species/kraken.html")


def open_uncaptured_page(viewer):
    """A link to an uncaptured page: the viewer shows its URL, and a button goes back."""
    page = viewer.page
    return_home(viewer)
    viewer.follow("The winter pages")
    expect(page.get_by_role("heading", name="This page isn't in")).to_be_visible()
    expect(page.get_by_text(f"{SITE}/winter.html").first).to_be_visible()
    expect(page).to_have_title(re.compile("^Not captured"))
    page.get_by_role("button", name="Go back").click()
    expect_home(viewer)


def return_home(viewer):
    viewer.follow(TITLE)
    expect_home(viewer)
