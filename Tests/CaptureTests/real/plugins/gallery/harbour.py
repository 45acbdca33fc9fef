"""An extractor of gallery-dl for the posts of the tests' site: `/post/ID` has its data at `/data/ID.json`."""

from gallery_dl.extractor.common import Extractor, Message


class HarbourPostExtractor(Extractor):
    category = "harbour"
    subcategory = "post"
    filename_fmt = "{id}_{num}.{extension}"
    directory_fmt = ("{category}",)
    archive_fmt = "{id}_{num}"
    pattern = r"(http://127\.0\.0\.1:\d+)/post/(\w+)"
    example = "http://127.0.0.1:80/post/ID"

    def items(self):
        root, identifier = self.groups
        post = self.request(f"{root}/data/{identifier}.json").json()
        photos = post.pop("photos")
        yield Message.Directory, "", post
        for number, url in enumerate(photos, 1):
            yield Message.Url, url, {**post, "num": number, "filename": f"photo{number}", "extension": url.rpartition(".")[2]}
