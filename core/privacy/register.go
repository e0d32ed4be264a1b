package privacy

import "strings"

// Subject is the kind of person that a table has data about.
type Subject string

// The subjects.
const (
	// NoPerson means that a table has no personal data: it has settings, definitions and
	// figures of an organization, or the state of the server.
	NoPerson Subject = ""
	// Recipient is a person that an organization writes to: a contact, or the recipient of a
	// message.
	Recipient Subject = "recipient"
	// Correspondent is a person who sent mail to an address of an organization.
	Correspondent Subject = "correspondent"
	// User is a person who signs in to the dashboard. `mailhelm admin user delete` erases them.
	User Subject = "user"
)

// Table describes a table of the database.
type Table struct {
	Name string
	// Of is whose data the table has. The other fields except Other are empty for NoPerson.
	Of Subject
	// Title is the heading above the rows of a person in an export.
	Title string
	// Find says how the rows of a person are found. A row belongs to the person if one of
	// them matches. It is empty for users.
	Find []Match
	// Erase is what erasing does with these rows.
	Erase Erasure
	// Data has the columns with personal data.
	Data []Column
	// Key has the columns that identify a row together with org_id, separated by spaces. It is
	// needed where rows are rewritten one by one.
	Key string
	// Other has the names of all other columns, separated by spaces. The rows of users and of
	// no person have only these, where Data has no entry.
	Other string
	// Kept says for how long rows are kept that are not erased before.
	Kept string
}

// Match is a condition that the rows of a person meet.
type Match struct {
	Column string
	By     Identifier
}

// Identifier is what a column has in common with a person.
type Identifier string

// The identifiers.
const (
	// ByContact: the column has the id of the contact.
	ByContact Identifier = "contact"
	// ByKey: the column has the address in the form of core.EmailKey.
	ByKey Identifier = "key"
	// BySpelling: the column has the address in any spelling.
	BySpelling Identifier = "spelling"
	// ByMention: the column is text that contains the address or the id of the contact.
	ByMention Identifier = "mention"
	// ByBytes: the column has bytes that contain the address or the id of the contact.
	ByBytes Identifier = "bytes"
)

// Erasure is what erasing does with the rows of a person.
type Erasure string

// The erasures.
const (
	// Delete deletes the rows.
	Delete Erasure = "delete"
	// Rewrite changes the columns of Data, each by its Change, and keeps the rows. Counters and
	// reports read them.
	Rewrite Erasure = "rewrite"
)

// Column is a column with personal data.
type Column struct {
	Name string
	// Holds says what the column holds, in a word or two, for the documentation.
	Holds string
	// Of is whose data the column has, if it is not the subject of the table.
	Of Subject
	// Change is what a Rewrite makes of the value.
	Change Change
	// Secret marks hashes and encrypted values, which exports leave out.
	Secret bool
}

// Change is what a rewrite makes of a value.
type Change string

// The changes.
const (
	// Keep keeps the value, of a column that is about another subject.
	Keep Change = ""
	// PseudonymID replaces the value by the id of the pseudonym.
	PseudonymID Change = "pseudonym id"
	// PseudonymAddress replaces the value by the address of the pseudonym.
	PseudonymAddress Change = "pseudonym address"
	// Blank empties a text.
	Blank Change = "blank"
	// Null removes the value.
	Null Change = "null"
	// Redact replaces the address and the id of the contact in a text.
	Redact Change = "redact"
	// Items replaces the items that mention the person, in a JSON array, by empty objects, so
	// that the others keep their positions.
	Items Change = "items"
	// Outcomes empties the texts of the items that mention the person, in a JSON array, except
	// their status.
	Outcomes Change = "outcomes"
	// Rows removes, in a JSON document, the elements that mention the person from the outermost
	// array around them.
	Rows Change = "rows"
)

// Register returns all tables of the database, sorted by name within each part of the
// product.
func Register() []Table {
	var all []Table
	for _, part := range [][]Table{imports(), memberships(), audience(), workflows(), mail(), received(), users(), definitions(), server()} {
		all = append(all, part...)
	}
	return all
}

// Columns returns the names of all columns of the table.
func (t Table) Columns() []string {
	names := strings.Fields(t.Other)
	for _, c := range t.Data {
		names = append(names, c.Name)
	}
	return names
}

// OfRecipients returns the tables that a person's data is exported from and erased in, in the
// order of the register.
func OfRecipients() []Table {
	var all []Table
	for _, t := range Register() {
		if len(t.Find) > 0 {
			all = append(all, t)
		}
	}
	return all
}
