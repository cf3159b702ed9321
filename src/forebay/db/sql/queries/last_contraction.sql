-- The last migration of part $1 after which releases that do not know it cannot work. Databases of earlier releases have no
-- column `contracts`.
select max(m.version) from forebay.migration m
where m.part = $1 and cast(to_jsonb(m) ->> 'contracts' as boolean)
