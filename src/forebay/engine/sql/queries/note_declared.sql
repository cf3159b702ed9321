-- Records that the code of a pipeline declares the schedules $1.
update forebay.schedule s set declared = true where s.name = any(cast($1 as text[])) and not s.declared
