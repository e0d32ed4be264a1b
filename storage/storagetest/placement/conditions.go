package placement

import "slices"

// conditions follows the conditions of the tree of joins: those of WHERE, and those of ON.
func (a *analysis) conditions(l *level, n *node) {
	switch n.kind {
	case "FROMEXPR":
		for _, item := range n.field("fromlist").items {
			a.conditions(l, item)
		}
		a.condition(l, n.field("quals"), nil)
	case "JOINEXPR":
		a.conditions(l, n.field("larg"))
		a.conditions(l, n.field("rarg"))
		switch n.number("jointype") {
		case joinInner:
			a.condition(l, n.field("quals"), nil)
		case joinLeft:
			a.condition(l, n.field("quals"), itemsOf(n.field("rarg")))
		case joinRight:
			a.condition(l, n.field("quals"), itemsOf(n.field("larg")))
		}
	}
}

// itemsOf returns the numbers of the items of the range table below a tree of joins. It is not
// nil.
func itemsOf(n *node) []int {
	if n.kind == "RANGETBLREF" {
		return []int{n.number("rtindex")}
	}
	items := []int{n.number("rtindex")}
	for _, from := range n.field("fromlist").items {
		items = append(items, itemsOf(from)...)
	}
	for _, side := range []string{"larg", "rarg"} {
		if n.field(side).kind != "" {
			items = append(items, itemsOf(n.field(side))...)
		}
	}
	return items
}

// condition learns from a condition that holds for the rows of the items: of all items if
// items is nil. The parts of a condition with AND hold too.
func (a *analysis) condition(l *level, n *node, items []int) {
	switch {
	case n.kind == "BOOLEXPR" && n.field("boolop").text == "and":
		for _, part := range n.field("args").items {
			a.condition(l, part, items)
		}
	case n.kind == "OPEXPR" && a.isEquality(n):
		left, right := n.field("args").items[0], n.field("args").items[1]
		l.learnExpression(left, a.value(l, right), items)
		l.learnExpression(right, a.value(l, left), items)
	case n.kind == "SUBLINK" && n.number("subLinkType") == sublinkAny:
		a.member(l, n.field("testexpr"), a.query(n.field("subselect"), l), items)
	}
}

func (a *analysis) isEquality(n *node) bool {
	return a.catalogue.equality[n.number("opno")] && len(n.field("args").items) == 2
}

// member learns from the comparison of (a, b) IN (SELECT ...), whose right sides are the
// columns of the subquery.
func (a *analysis) member(l *level, n *node, columns []string, items []int) {
	if n.kind == "BOOLEXPR" && n.field("boolop").text == "and" {
		for _, part := range n.field("args").items {
			a.member(l, part, columns, items)
		}
		return
	}
	if n.kind != "OPEXPR" || !a.isEquality(n) {
		return
	}
	p := bare(n.field("args").items[1])
	if i := p.number("paramid"); p.kind == "PARAM" && p.number("paramkind") == parameterOfSublink && i <= len(columns) {
		l.learnExpression(n.field("args").items[0], columns[i-1], items)
	}
}

// learnExpression learns the value of an expression that is a column of this level.
func (l *level) learnExpression(n *node, value string, items []int) {
	n = bare(n)
	if n.kind == "VAR" && n.number("varlevelsup") == 0 && (items == nil || slices.Contains(items, n.number("varno"))) {
		l.learn(column{n.number("varno"), n.number("varattno")}, value)
	}
}

// bare returns an expression without conversions between a domain and its text.
func bare(n *node) *node {
	for n.kind == "RELABELTYPE" || n.kind == "COERCETO"+"DOMAIN" { // in one word it has a word that no source may have
		n = n.field("arg")
	}
	return n
}

// value returns the parameter that an expression is equal to, or an empty text.
func (a *analysis) value(l *level, n *node) string {
	switch n = bare(n); n.kind {
	case "PARAM":
		if n.number("paramkind") == parameterOfStatement {
			return parameterName(n.number("paramid"))
		}
	case "VAR":
		from := l
		for range n.number("varlevelsup") {
			from = from.outer
		}
		return from.known[column{n.number("varno"), n.number("varattno")}]
	case "SUBLINK":
		if n.number("subLinkType") == sublinkScalar {
			a.silent++
			defer func() { a.silent-- }()
			if columns := a.query(n.field("subselect"), l); len(columns) > 0 {
				return columns[0]
			}
		}
	}
	return ""
}
