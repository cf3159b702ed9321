-- Which of these extensions are available, and which version is installed.
select e.name, e.installed_version from pg_available_extensions e where e.name = any(cast($1 as text[]))
