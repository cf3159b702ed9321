-- Takes the routine with type $1 and identity $2 from its part, so that another part can record it.
update forebay.part_routine set part = '' where type = $1 and identity = $2
