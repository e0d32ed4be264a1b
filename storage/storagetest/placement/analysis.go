package placement

import (
	"maps"
	"slices"
	"strings"
)

// analysis is the state for one statement.
type analysis struct {
	catalogue *Catalogue
	faults    []string
	// places has the parameters that the organizations of tables are equal to.
	places map[string]bool
	// distributed and local have the names of the tables of these kinds.
	distributed, local map[string]bool
	// silent is above zero while subqueries are analysed only for what their columns are.
	silent int
}

// result returns the faults of the statement.
func (a *analysis) result() []string {
	if len(a.places) > 1 {
		a.faults = append(a.faults, "several organizations: "+strings.Join(slices.Sorted(maps.Keys(a.places)), ", "))
	}
	if len(a.local) > 0 && len(a.distributed) > 0 {
		a.faults = append(a.faults, "reads local tables and distributed ones: "+
			strings.Join(slices.Sorted(maps.Keys(a.local)), ", ")+"; "+strings.Join(slices.Sorted(maps.Keys(a.distributed)), ", "))
	}
	return a.faults
}

func (a *analysis) fault(text string) {
	if a.silent == 0 && !slices.Contains(a.faults, text) {
		a.faults = append(a.faults, text)
	}
}

// column is a column of an item of the range table, by their numbers from 1.
type column struct{ item, number int }

// level is one query and what is known about the columns of its range table.
type level struct {
	outer *level
	query *node
	items []*node
	// known has the parameter that a column is equal to in every row that the query uses.
	known map[column]string
	// results has the known parameters of the columns of common table expressions, by name.
	results map[string][]string
	changed bool
}

// The numbers that PostgreSQL writes in query trees: of commands, kinds of joins, sublinks,
// items of the range table, and parameters.
const (
	commandUpdate = 2
	commandInsert = 3

	joinInner = 0
	joinLeft  = 1
	joinRight = 3

	sublinkAny    = 2
	sublinkScalar = 4

	itemTable    = 0
	itemSubquery = 1
	itemJoin     = 2
	itemValues   = 5
	itemCommon   = 6

	parameterOfStatement = 0
	parameterOfSublink   = 2
)

// query analyses a query and its subqueries. It returns the known parameter of each column of
// the result.
func (a *analysis) query(q *node, outer *level) []string {
	l := &level{outer: outer, query: q, items: q.field("rtable").items, known: map[column]string{}, results: map[string][]string{}}
	for _, common := range q.field("cteList").items {
		a.common(l, common)
	}
	a.silent++
	for l.changed = true; l.changed; {
		l.changed = false
		for i, item := range l.items {
			a.columns(l, i+1, item)
		}
		a.conditions(l, q.field("jointree"))
	}
	a.silent--
	for i, item := range l.items {
		a.columns(l, i+1, item)
		a.table(l, i+1, item)
	}
	for _, name := range slices.Sorted(maps.Keys(q.fields)) {
		if name != "rtable" && name != "cteList" {
			a.sublinks(l, q.field(name))
		}
	}
	a.moves(l)
	return a.results(l)
}

// common analyses a common table expression. For a recursive one, the columns are first those
// of the part that starts the recursion.
func (a *analysis) common(l *level, c *node) {
	name, q := c.field("ctename").text, c.field("ctequery")
	if c.isTrue("cterecursive") {
		if start := leftmost(q); start != nil {
			a.silent++
			l.results[name] = a.query(start, l)
			a.silent--
		}
	}
	l.results[name] = a.query(q, l)
}

// leftmost returns the first part of a UNION, or nil.
func leftmost(q *node) *node {
	n := q.field("setOperations")
	for n.kind == "SETOPERATIONSTMT" {
		n = n.field("larg")
	}
	if items := q.field("rtable").items; n.kind == "RANGETBLREF" && n.number("rtindex") <= len(items) {
		return items[n.number("rtindex")-1].field("subquery")
	}
	return nil
}

// columns records what the definition of an item of the range table says about its columns.
func (a *analysis) columns(l *level, number int, item *node) {
	switch item.number("rtekind") {
	case itemSubquery:
		l.learnAll(number, a.query(item.field("subquery"), l))
	case itemCommon:
		from := l
		for range item.number("ctelevelsup") {
			from = from.outer
		}
		l.learnAll(number, from.results[item.field("ctename").text])
	case itemJoin:
		for i, v := range item.field("joinaliasvars").items {
			l.learn(column{number, i + 1}, a.value(l, v))
		}
	case itemValues:
		var first []string
		for i, row := range item.field("values_lists").items {
			values := make([]string, len(row.items))
			for j, v := range row.items {
				values[j] = a.value(l, v)
			}
			if i == 0 {
				first = values
			}
			first = common(first, values)
		}
		l.learnAll(number, first)
	case itemTable:
		if l.query.number("commandType") != commandInsert || number != l.query.number("resultRelation") {
			return
		}
		if t := a.catalogue.tables[item.number("relid")]; t.organization != 0 {
			for _, entry := range l.query.field("targetList").items {
				if entry.number("resno") == t.organization {
					l.learn(column{number, t.organization}, a.value(l, entry.field("expr")))
				}
			}
		}
	}
}

// common returns what two rows have in common, and empty texts where they differ.
func common(a, b []string) []string {
	both := make([]string, min(len(a), len(b)))
	for i := range both {
		if a[i] == b[i] {
			both[i] = a[i]
		}
	}
	return both
}

func (l *level) learnAll(item int, values []string) {
	for i, v := range values {
		l.learn(column{item, i + 1}, v)
	}
}

func (l *level) learn(c column, value string) {
	if value != "" && l.known[c] == "" {
		l.known[c] = value
		l.changed = true
	}
}

// table reports a table of an organization whose organization is not known. The row that ON
// CONFLICT names as excluded has the organization of the inserted row.
func (a *analysis) table(l *level, number int, item *node) {
	t, ok := a.catalogue.tables[item.number("relid")]
	if !ok || a.silent > 0 || item.number("rtekind") != itemTable || number == l.query.field("onConflict").number("exclRelIndex") {
		return
	}
	switch t.kind {
	case Local:
		a.local[t.name] = true
	case Distributed:
		a.distributed[t.name] = true
	case Reference:
	}
	if t.organization == 0 {
		return
	}
	place := l.known[column{number, t.organization}]
	if place == "" {
		a.fault("org_id of " + t.name + " is not equal to a parameter")
	} else {
		a.places[place] = true
	}
}

// moves reports an assignment to the organization of a row.
func (a *analysis) moves(l *level) {
	target := l.query.number("resultRelation")
	if target == 0 {
		return
	}
	t := a.catalogue.tables[l.items[target-1].number("relid")]
	if t.organization == 0 {
		return
	}
	assigned := l.query.field("onConflict").field("onConflictSet").items
	if l.query.number("commandType") == commandUpdate {
		assigned = l.query.field("targetList").items
	}
	for _, entry := range assigned {
		if entry.number("resno") == t.organization {
			a.fault("moves rows of " + t.name + " to another organization")
		}
	}
}

// sublinks analyses the subqueries in an expression.
func (a *analysis) sublinks(l *level, n *node) {
	if n.kind == "QUERY" {
		a.query(n, l)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.fields)) {
		a.sublinks(l, n.field(name))
	}
	for _, item := range n.items {
		a.sublinks(l, item)
	}
}

// results returns the known parameters of the columns of the result. A column of a UNION is
// known if it is the same in all parts.
func (a *analysis) results(l *level) []string {
	entries := l.query.field("targetList").items
	if l.query.number("resultRelation") != 0 {
		entries = l.query.field("returningList").items
	}
	var values []string
	for _, entry := range entries {
		if !entry.isTrue("resjunk") {
			values = append(values, a.value(l, entry.field("expr")))
		}
	}
	if l.query.field("setOperations").kind == "" {
		return values
	}
	return l.united(l.query.field("setOperations"), len(values))
}

func (l *level) united(n *node, columns int) []string {
	if n.kind == "SETOPERATIONSTMT" {
		return common(l.united(n.field("larg"), columns), l.united(n.field("rarg"), columns))
	}
	values := make([]string, columns)
	for i := range values {
		values[i] = l.known[column{n.number("rtindex"), i + 1}]
	}
	return values
}
