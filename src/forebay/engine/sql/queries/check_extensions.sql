-- Which of these extensions could be installed here, and which version is.
select e.name, e.installed_version from pg_available_extensions e where e.name = any(cast($1 as text[]))
