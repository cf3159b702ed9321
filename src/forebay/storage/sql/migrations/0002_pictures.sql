-- Files that are pictures: their size, a blurhash, and thumbnails, each of which is a file by itself. thumbnail_ids has the files in
-- the order of widths.

create table forebay.picture (
    file_id       bigint primary key references forebay.file on delete cascade,
    owner_id      bigint not null,
    width         int not null,
    height        int not null,
    blurhash      text not null,
    widths        int[] not null default '{}',
    thumbnail_ids bigint[] not null default '{}',
    check (cardinality(widths) = cardinality(thumbnail_ids))
);
