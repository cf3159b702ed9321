-- Why a file is not received for now.
update forebay.intake_file f set problem = $3 where f.target = $1 and f.reference = $2
