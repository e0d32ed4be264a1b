-- Locks on PostgreSQL: no existing table.

-- What PostgreSQL lacks of the language that statements are written in. SQLite
-- takes any type name with "text" in it, and has json_each of its own, of which
-- statements use the columns value and atom alone.
/*pg
CREATE DOMAIN bytetext AS text COLLATE "C";

CREATE FUNCTION json_each(document text) RETURNS TABLE (value json, atom text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT e.value, CASE WHEN json_typeof(e.value) IN ('object', 'array') THEN NULL ELSE e.value #>> '{}' END
	FROM json_array_elements(CAST(document AS json)) AS e
$$;
*/
