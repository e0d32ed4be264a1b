package languageserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/names"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/grammar"
	"github.com/sourcegraph/jsonrpc2"
)

// completion answers with the words and names that can be at a position.
func (s *server) completion(_ context.Context, _ *jsonrpc2.Conn, params json.RawMessage) (any, error) {
	var p placeParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	text := s.document(p.Document.URI).text
	return completionsAt(text, offsetAt(text, p.Position), s.current()), nil
}

// completionsAt returns what can be at an offset, never nil. It depends only on the text
// before the offset and the rest of the word there.
func completionsAt(text string, offset int, n names.Names) []item {
	c := completer{text: text, end: offset, names: n, items: []item{}}
	c.start = offset
	for c.start > 0 && isWordByte(text[c.start-1]) {
		c.start--
	}
	tokens := tokensOf(text[:offset])
	last := lastOf(tokens, 1)
	if open := last.Kind == predicate.BadToken && text[last.Start] == '"'; open {
		c.start = last.Start
		if end := predicate.TokenAt(text, last.Start); end.Kind == predicate.StringToken {
			c.end = end.End
		}
		c.namesFor(nameAfter(tokens[:len(tokens)-1]))
		return c.items
	}
	for len(tokens) > 0 && lastOf(tokens, 1).End > c.start {
		tokens = tokens[:len(tokens)-1]
	}
	for c.end < len(text) && isWordByte(text[c.end]) {
		c.end++
	}
	c.before = tokens
	switch word := text[c.start:offset]; {
	case strings.HasPrefix(word, "attr."):
		c.attributes()
	case strings.HasPrefix(word, "activity."):
		c.activities()
	case startsStatement(text, c.start):
		c.statements()
	default:
		c.continuations()
	}
	return c.items
}

func isWordByte(b byte) bool {
	return b == '_' || b == '.' || b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// completer collects completions that replace the text from start to end.
type completer struct {
	text       string
	start, end int
	// before has the tokens before start.
	before []predicate.Token
	names  names.Names
	items  []item
}

func (c *completer) add(kind itemKind, label, detail, documentation string) {
	c.items = append(c.items, item{label, kind, detail, documentation, textEdit{spanOf(c.text, c.start, c.end), label}})
}

func (c *completer) keywords(words ...string) {
	for _, word := range words {
		c.add(kindKeyword, word, "", "")
	}
}

func (c *completer) attributes() {
	for _, a := range c.names.Attributes {
		c.add(kindField, "attr."+a.Name, a.Type, a.Description)
	}
	c.add(kindField, "attr.email", "string", "The address of the contact.")
}

func (c *completer) activities() {
	for _, name := range c.names.Activities {
		label := "activity." + name
		if t := predicate.TokenAt(label, 0); t.End != len(label) || t.Kind != predicate.ActivityToken {
			label = "activity." + predicate.StringLiteral(name)
		}
		c.add(kindEvent, label, "activity", "")
	}
}

// namesFor adds the names of a kind, in quotes.
func (c *completer) namesFor(kind named) {
	quoted := func(name, detail, documentation string) {
		c.add(kindConstant, predicate.StringLiteral(name), detail, documentation)
	}
	switch kind {
	case namedTemplate:
		for _, t := range c.names.Templates {
			quoted(t.Slug, "template", t.Subject)
		}
	case namedTopic:
		for _, t := range c.names.Topics {
			quoted(t.Name, "topic", t.Description)
		}
	case namedList:
		c.sets("list", c.names.Lists)
	case namedSegment:
		c.sets("segment", c.names.Segments)
	}
}

func (c *completer) sets(kind string, sets []names.Set) {
	for _, set := range sets {
		if set.Status != "archived" {
			c.add(kindConstant, predicate.StringLiteral(set.Key), kind, set.Description)
		}
	}
}

// statements adds the settings, if no step is before, and the steps.
func (c *completer) statements() {
	if len(c.before) == 0 {
		c.keywords("workflow")
		return
	}
	depth, steps := 0, false
	for i, t := range c.before {
		switch {
		case t.Sign("{"):
			depth++
		case t.Sign("}"):
			depth--
		}
		if startsStatement(c.text, t.Start) && ruleAt(c.before[i:]).Kind == grammar.Step {
			steps = true
		}
	}
	for _, rule := range grammar.Rules() {
		if rule.Kind == grammar.Step || rule.Kind == grammar.Setting && depth == 1 && !steps {
			name, _ := strings.CutSuffix(rule.Name, " when")
			form, _, _ := strings.Cut(rule.Form, "\n")
			c.add(kindKeyword, name, form, rule.Meaning)
		}
	}
	if c.inWait() {
		c.keywords("timeout:")
	}
	if lastOf(c.before, 1).Sign("}") {
		c.keywords("else")
	}
}

// inWait reports whether the last open brace is that of a wait.
func (c *completer) inWait() bool {
	if !lastOf(c.before, 1).Sign("{") {
		return false
	}
	for i := len(c.before) - 2; i >= 0; i-- {
		if t := c.before[i]; startsStatement(c.text, t.Start) {
			return t.Is("wait")
		}
	}
	return false
}

// continuations adds the words that continue a statement.
func (c *completer) continuations() {
	last := lastOf(c.before, 1)
	if c.afterWindow() {
		c.keywords("in contact timezone")
		return
	}
	if kind := nameAfter(c.before); kind != notNamed {
		c.namesFor(kind)
	}
	switch last.Kind {
	case predicate.WordToken:
		c.afterWord(last.Text)
	case predicate.NumberToken:
		c.keywords("minutes", "hours", "days", "weeks", "months", "minute", "hour", "day", "week", "month")
		c.keywords("per", "every", "and", "or")
	case predicate.AttributeToken:
		c.keywords("=", "!=", "<", "<=", ">", ">=", "in", "is", "starts with", "ends with", "contains", "and", "or")
		c.keywords("where")
	case predicate.StringToken:
		c.afterString()
	case predicate.SymbolToken:
		c.afterSymbol(last.Text)
	default:
		c.keywords("and", "or", "where", "within", "between")
	}
}

// afterWindow reports whether the times of a send window are complete before the start.
func (c *completer) afterWindow() bool {
	for i, t := range c.before {
		if i > 0 && t.Is("window") && c.before[i-1].Is("send") {
			from, until, _ := strings.Cut(c.text[t.End:c.start], "-")
			return strings.TrimSpace(from) != "" && strings.TrimSpace(until) != "" && !strings.Contains(strings.TrimSpace(until), " ") && !strings.Contains(until, "\n")
		}
	}
	return false
}

// units are the words after which a duration is complete.
var units = []string{"minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months"}

// next has the words after a word, if they do not depend on those before it.
var next = map[string][]string{
	"enter": {"on"}, "event": predicate.MessageEvents(), "via": {"topic"}, "frequency": {"cap"}, "cap": {"off"}, "reentry": {"once", "on rematch", "per occurrence"},
	"enroll": {"forward", "existing"}, "existing": {"since"}, "wait": {"until", "up to"}, "up": {"to"}, "hold": {"out"}, "repeat": {"up to"}, "else": {"if"},
	"add": {"to list"}, "is": {"known", "unknown"}, "starts": {"with"}, "ends": {"with"}, "subscribed": {"to"}, "unsubscribed": {"from all"}, "from": {"all"},
	"opted": {"out of"}, "out": {"of"}, "send": {"window"}, "contact": {"timezone"}, "exit": {"when"},
}

func (c *completer) afterWord(word string) {
	c.keywords(next[word]...)
	previous := lastOf(c.before, 2)
	switch word {
	case "on":
		if previous.Is("enter") {
			c.keywords("segment", "event")
			c.activities()
			return
		}
		c.keywords("rematch")
	case "per":
		if previous.Is("reentry") {
			c.keywords("occurrence")
			return
		}
		c.keywords(units...)
	case "to":
		if previous.Is("add") {
			c.keywords("list")
		}
	case "in":
		c.keywords("contact", "list", "segment")
	case "when", "where", "if", "and", "or", "not", "until", "has":
		c.tests()
	case "before", "after", "set":
		c.attributes()
	case "suppressed", "all", "known", "unknown", "true", "false", "now":
		c.keywords("and", "or", "where")
	}
	for _, unit := range units {
		if unit == word {
			c.keywords("until", "before", "after")
		}
	}
	if len(c.items) == 0 {
		c.keywords("and", "or", "where", "within", "between", "until")
	}
}

// tests adds the words with which a test begins.
func (c *completer) tests() {
	c.attributes()
	c.keywords("has", "not", "now", "count", "exists", "sum", "avg", "min", "max", "last", "first",
		"subscribed to", "opted out of", "unsubscribed from all", "suppressed", "in list", "in segment")
}

func (c *completer) afterString() {
	if lastOf(c.before, 2).Is("exit") {
		c.keywords("when")
		return
	}
	if lastOf(c.before, 2).Is("send") {
		c.keywords("via topic", "transactional")
		return
	}
	if lastOf(c.before, 2).Is("workflow") {
		c.keywords("v1")
		return
	}
	c.keywords("and", "or", "where", "within", "between")
}

func (c *completer) afterSymbol(symbol string) {
	previous := lastOf(c.before, 2)
	switch symbol {
	case "(":
		if previous.Kind == predicate.WordToken && !previous.Is("and") && !previous.Is("or") && !previous.Is("not") && !previous.Is("if") {
			c.keywords(predicate.MessageEvents()...)
			c.activities()
			return
		}
		c.tests()
	case "=", "!=", "[", ",":
		c.values(previous)
	case "<", "<=", ">", ">=":
		c.keywords("now")
	case ")":
		c.keywords("and", "or", "until", "where", "=", "!=", "<", "<=", ">", ">=")
	case "}":
		c.keywords("else")
	}
}

// values adds the values of the attribute that is compared.
func (c *completer) values(compared predicate.Token) {
	if compared.Kind == predicate.WordToken || compared.Kind == predicate.StringToken { // in a list of values
		for i := len(c.before) - 1; i >= 0 && compared.Kind != predicate.AttributeToken; i-- {
			compared = c.before[i]
		}
	}
	for _, a := range c.names.Attributes {
		if a.Name != compared.Text || compared.Kind != predicate.AttributeToken {
			continue
		}
		for _, value := range a.EnumValues {
			c.add(kindValue, predicate.StringLiteral(value), "value of attr."+a.Name, "")
		}
		switch a.Type {
		case "datetime":
			c.keywords("now")
		case "bool":
			c.keywords("true", "false")
		}
		return
	}
	c.keywords("true", "false", "now")
}
