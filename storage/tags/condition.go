package tags

// Kind is a kind of object that has tags: the table of its tags, and the column there with
// the object's id.
type Kind struct{ table, column string }

// The kinds of objects with tags.
var (
	OfTemplates  = Kind{"template_tags", "template_id"}
	OfBroadcasts = Kind{"broadcast_tags", "broadcast_id"}
)

// Has returns the SQL condition that the object in a row has the tag whose name is in the
// parameter, such as "$5". row is the table of the object or its alias; it must have the
// columns org_id and id.
func (k Kind) Has(row, parameter string) string {
	return row + `.id IN (SELECT tagged.` + k.column + ` FROM tags AS tag
		JOIN ` + k.table + ` AS tagged ON tagged.org_id = tag.org_id AND tagged.tag_id = tag.id
		WHERE tag.org_id = ` + row + `.org_id AND tag.name = ` + parameter + `)`
}

// HasNone returns the SQL condition that the object in a row has no tag; see [Kind.Has].
func (k Kind) HasNone(row string) string {
	return `NOT EXISTS (SELECT 1 FROM ` + k.table + ` AS tagged WHERE tagged.org_id = ` + row + `.org_id AND tagged.` + k.column + ` = ` + row + `.id)`
}

// clear returns the statement that removes all tags of an object.
func (k Kind) clear() string {
	return `DELETE FROM ` + k.table + ` WHERE org_id = $1 AND ` + k.column + ` = $2`
}

// set returns the statement that gives an object the tags whose ids are in the JSON array
// $3. It skips unknown tags.
func (k Kind) set() string {
	return `INSERT INTO ` + k.table + ` (org_id, ` + k.column + `, tag_id)
		SELECT t.org_id, $1, t.id FROM tags AS t
		WHERE t.org_id = $2 AND t.id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`
}

// list returns the query for the tags of the objects whose ids are in the JSON array $2.
func (k Kind) list() string {
	return `SELECT x.` + k.column + ` AS object_id, t.id, t.name, t.color FROM ` + k.table + ` AS x
		JOIN tags AS t ON t.org_id = x.org_id AND t.id = x.tag_id
		WHERE x.org_id = $1 AND x.` + k.column + ` IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)
		ORDER BY t.name`
}
