-- The content of a stored file.
select encode(f.sha256, 'hex') as sha256, b.size from forebay.file f join forebay.blob b on b.sha256 = f.sha256 where f.id = $1
