"""A window of WebKitGTK that WebDriver steers, with a profile in the folder that is named: what MiniBrowser has not."""

import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gtk, WebKit2  # noqa: E402


def main(folder, blocks, proxy, *local):
    """`local`: hosts that bypass the proxy, if there is one."""
    folder = Path(folder)
    manager = WebKit2.WebsiteDataManager(
        base_data_directory=str(folder / "data"), base_cache_directory=str(folder / "cache"))
    if proxy:
        settings = WebKit2.NetworkProxySettings.new(proxy, list(local))
        manager.set_network_proxy_settings(WebKit2.NetworkProxyMode.CUSTOM, settings)
    context = WebKit2.WebContext.new_with_website_data_manager(manager)
    context.set_automation_allowed(True)

    def open_view(session):
        view = WebKit2.WebView(web_context=context, is_controlled_by_automation=True)
        assert not view.is_ephemeral()
        if blocks == "workers":
            turn_off(view.get_settings(), "ServiceWorkers")
        window = Gtk.Window(default_width=1200, default_height=900)
        window.add(view)
        window.show_all()
        view.connect("close", lambda view: window.destroy())
        return view

    context.connect("automation-started", lambda context, session: session.connect("create-web-view", open_view))
    Gtk.main()


def turn_off(settings, name):
    features = WebKit2.Settings.get_all_features()
    found = [features.get(index) for index in range(features.get_length())]
    settings.set_feature_enabled(next(one for one in found if one.get_identifier() == name), False)


main(*sys.argv[1:])
