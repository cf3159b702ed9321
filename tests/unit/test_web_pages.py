"""The folders of pages of the web app are found by their names."""

from __future__ import annotations

from scripts import web_pages


def test_each_folder_is_imported_and_listed() -> None:
    lines = web_pages.text(["things", "dead-letters"]).splitlines()
    assert lines[1:4] == [
        'import * as deadLetters from "./dead-letters/routes";',
        'import type { Folder } from "./folder";',
        'import * as things from "./things/routes";',
    ]
    assert lines[5:] == [
        "export const routes = [",
        "  ...deadLetters.routes,",
        "  ...things.routes,",
        "] as const;",
        "",
        "export const folders: readonly Folder[] = [",
        "  deadLetters,",
        "  things,",
        "];",
    ]


def test_the_stored_file_lists_all_folders() -> None:
    folders = [file.parent.name for file in web_pages.PAGES.glob("*/routes.ts")]
    assert web_pages.TARGET.read_text("utf-8") == web_pages.text(folders)
