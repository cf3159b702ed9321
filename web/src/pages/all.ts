// Written by scripts/web_pages.py from the folders of pages: do not edit.
import * as account from "./account/routes";
import * as admin from "./admin/routes";
import * as articles from "./articles/routes";
import * as attachments from "./attachments/routes";
import * as bookmarks from "./bookmarks/routes";
import * as deadLetters from "./dead-letters/routes";
import type { Folder } from "./folder";
import * as home from "./home/routes";
import * as jobs from "./jobs/routes";
import * as media from "./media/routes";
import * as ops from "./ops/routes";
import * as pending from "./pending/routes";
import * as pipeline from "./pipeline/routes";
import * as save from "./save/routes";
import * as search from "./search/routes";
import * as sheets from "./sheets/routes";

export const routes = [
  ...account.routes,
  ...admin.routes,
  ...articles.routes,
  ...attachments.routes,
  ...bookmarks.routes,
  ...deadLetters.routes,
  ...home.routes,
  ...jobs.routes,
  ...media.routes,
  ...ops.routes,
  ...pending.routes,
  ...pipeline.routes,
  ...save.routes,
  ...search.routes,
  ...sheets.routes,
] as const;

export const folders: readonly Folder[] = [
  account,
  admin,
  articles,
  attachments,
  bookmarks,
  deadLetters,
  home,
  jobs,
  media,
  ops,
  pending,
  pipeline,
  save,
  search,
  sheets,
];
