package orgmove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	core "github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/sealed"
)

// stays are the tables of an organization that do not move, each with the reason.
var stays = map[string]string{
	"members":             "people belong to an installation; the header of the archive has the members",
	"sessions":            "a session belongs to a browser and the address of one installation",
	"invitations":         "the link leads to the other installation; invite again",
	"authorization_codes": "a code of one minute of the other installation's authorization server",
	"refresh_tokens":      "a token of the other installation's authorization server, bound to its address",
	"grants":              "without its tokens a grant is of no use; applications ask their users again",
	"replay_records":      "results of calls, some with links that the other installation's master key seals",
	"spent_confirmations": "confirmations are signed with a key of one installation",
}

// Stays returns the tables of an organization that do not move, with the reason of each.
func Stays() map[string]string { return maps.Clone(stays) }

// kind is the type of a column's values in an archive.
type kind int

const (
	textKind kind = iota + 1
	intKind
	boolKind
	floatKind
	bytesKind
	// sealedKind is a value that the master key seals. In an archive it is open.
	sealedKind
)

// column is a column of a table that moves.
type column struct {
	name string
	// purpose and key are those of package sealed; purpose is "" for other columns. key has the
	// indexes of the columns that follow the organization in the id of the sealed value.
	purpose string
	key     []int
	// user is true for ids of people, which an import replaces if the person has another id there.
	user bool
}

// table is a table that moves.
type table struct {
	name                string
	columns             []column
	count, read, insert *engine.Statement
}

// tables are all tables that move, in the order of an import: a table stands before those that
// refer to it.
var tables = registerTables()

// registerTables registers the statements of all tables.
func registerTables() []table {
	registered := map[string]privacy.Table{}
	for _, t := range privacy.Register() {
		registered[t.Name] = t
	}
	secret := map[string]sealed.Column{}
	for _, c := range sealed.Columns() {
		secret[c.String()] = c
	}
	var all []table
	for _, t := range slices.Backward(closing.OrgTables()) {
		if stays[t.Name] == "" {
			all = append(all, registerTable(t, registered[t.Name], secret))
		}
	}
	return all
}

// registerTable registers the statements of a table. The columns of the key come first.
func registerTable(t closing.OrgTable, known privacy.Table, secret map[string]sealed.Column) table {
	names := splitKey(t.Key)
	for _, name := range slices.Sorted(slices.Values(known.Columns())) {
		if name != "org_id" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	one := table{name: t.Name}
	for _, name := range names {
		c := column{name: name, user: isUser(known, name)}
		if s, ok := secret[t.Name+"."+name]; ok {
			c.purpose = s.Purpose
			for _, part := range s.Key[1:] {
				c.key = append(c.key, slices.Index(names, part))
			}
		}
		one.columns = append(one.columns, c)
	}
	marks := make([]string, len(names)+1)
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	selected, where := strings.Join(names, ", "), `org_id = $1`
	if t.Name == "receiving_routes" {
		selected, where = routes(names), `org_id = $1 AND (removed_at IS NULL OR removed_at = 1)`
	}
	order := ""
	if t.Key != "" {
		order = ` ORDER BY ` + t.Key
	}
	one.count = engine.Register("count moving "+t.Name+" of an organization", `SELECT count(*) FROM `+t.Name+` WHERE `+where)
	one.read = engine.Register("read "+t.Name+" of an organization", `SELECT `+selected+` FROM `+t.Name+` WHERE `+where+order)
	one.insert = engine.Register("store "+t.Name+" of an organization",
		`INSERT INTO `+t.Name+` (org_id, `+strings.Join(names, ", ")+`) VALUES (`+strings.Join(marks, ", ")+`)`)
	return one
}

// routes returns the columns of the receiving routes in the form that an archive has: withdrawn, as
// those of a deleted organization are, so that the import publishes them with its last step. A
// version belongs to an installation.
func routes(names []string) string {
	selected := slices.Clone(names)
	for i, name := range names {
		switch name {
		case "removed_at":
			selected[i] = `CAST(1 AS bigint) AS removed_at`
		case "version":
			selected[i] = `CAST(0 AS bigint) AS version`
		}
	}
	return strings.Join(selected, ", ")
}

func splitKey(key string) []string {
	if key == "" {
		return nil
	}
	return strings.Split(key, ", ")
}

// isUser reports whether a column has ids of people who sign in.
func isUser(t privacy.Table, name string) bool {
	return slices.ContainsFunc(t.Data, func(c privacy.Column) bool {
		return c.Name == name && strings.HasPrefix(c.Holds, "id of the user")
	})
}

// Tables returns the tables that move, with their columns, in the order of an archive.
func Tables() []core.Table {
	all := make([]core.Table, len(tables))
	for i, t := range tables {
		all[i].Name = t.name
		for _, c := range t.columns {
			all[i].Columns = append(all[i].Columns, c.name)
		}
	}
	return all
}

// find returns the table with a name.
func find(name string) (*table, error) {
	for i := range tables {
		if tables[i].name == name {
			return &tables[i], nil
		}
	}
	return nil, fmt.Errorf("storage: rows of %q do not move", name)
}

// kinds returns the kinds of the table's columns in the database.
func (t *table) kinds(types []string) ([]kind, error) {
	all := make([]kind, len(types))
	for i, name := range types {
		k, err := kindOf(name)
		if err != nil {
			return nil, fmt.Errorf("storage: %s.%s: %w", t.name, t.columns[i].name, err)
		}
		if t.columns[i].purpose != "" {
			k = sealedKind
		}
		all[i] = k
	}
	return all, nil
}

// kindOf returns the kind of a type of the database.
func kindOf(name string) (kind, error) {
	name = strings.ToUpper(name)
	switch {
	case strings.Contains(name, "TEXT"):
		return textKind, nil
	case name == "BYTEA" || name == "BLOB":
		return bytesKind, nil
	case strings.HasPrefix(name, "BOOL"):
		return boolKind, nil
	case strings.Contains(name, "INT") || name == "":
		return intKind, nil
	case strings.HasPrefix(name, "DOUBLE") || strings.HasPrefix(name, "FLOAT"):
		return floatKind, nil
	}
	return 0, fmt.Errorf("values of the type %q do not move", name)
}
