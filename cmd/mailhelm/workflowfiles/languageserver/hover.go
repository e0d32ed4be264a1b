package languageserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/names"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/grammar"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/sourcegraph/jsonrpc2"
)

// hover answers with the meaning of the word at a position, null if it has none.
func (s *server) hover(_ context.Context, _ *jsonrpc2.Conn, params json.RawMessage) (any, error) {
	var p placeParams
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	text := s.document(p.Document.URI).text
	meaning, start, end := meaningAt(text, offsetAt(text, p.Position), s.current())
	if meaning == "" {
		return nil, nil
	}
	return hover{markup{"markdown", meaning}, spanOf(text, start, end)}, nil
}

// meaningAt returns the meaning of the token at an offset in Markdown, "" if there is none,
// and the offsets of the token.
func meaningAt(text string, offset int, n names.Names) (meaning string, start, end int) {
	tokens := tokensOf(text)
	at := slices.IndexFunc(tokens, func(t predicate.Token) bool { return t.Start <= offset && offset < t.End })
	if at < 0 {
		return "", 0, 0
	}
	t := tokens[at]
	switch t.Kind {
	case predicate.AttributeToken:
		meaning = attributeMeaning(t.Text, n)
	case predicate.ActivityToken:
		meaning = "The activity " + core.Quote(t.Text) + ", which programs record with `POST /v1/activities`."
	case predicate.StringToken:
		meaning = nameMeaning(nameAfter(tokens[:at]), t.Text, n)
	case predicate.WordToken:
		if nameAfter(tokens[:at]) == namedTopic && lastOf(tokens[:at], 1).Is("topic") {
			meaning = nameMeaning(namedTopic, t.Text, n)
		} else {
			meaning = wordMeaning(text, tokens, at)
		}
	}
	return meaning, t.Start, t.End
}

// parts has words in the middle of settings and steps, with the rules that describe them.
var parts = map[string]string{"else": "if", "timeout": "wait up to", "via": "send", "transactional": "send", "where": "enter on", "when": "exit when"}

// wordMeaning describes the setting or step that a word begins or is a part of.
func wordMeaning(text string, tokens []predicate.Token, at int) string {
	for first := max(0, at-2); first <= at; first++ {
		if !startsStatement(text, tokens[first].Start) {
			continue
		}
		rule := ruleAt(tokens[first:])
		if rule.Name == "" || at >= first+len(strings.Fields(rule.Name)) {
			continue
		}
		return ruleMeaning(rule) + pathOf(text, tokens[first].Start)
	}
	if name := parts[tokens[at].Text]; name != "" {
		return ruleMeaning(ruleNamed(name))
	}
	return ""
}

// ruleAt returns the rule with the most words that tokens begin with.
func ruleAt(tokens []predicate.Token) grammar.Rule {
	var best grammar.Rule
	for _, rule := range grammar.Rules() {
		words := strings.Fields(rule.Name)
		if rule.Name == "exit when" { // the name of the exit is between the words
			words = words[:1]
			if len(tokens) < 2 || tokens[1].Kind != predicate.StringToken {
				continue
			}
		}
		if len(words) > len(tokens) || len(rule.Name) < len(best.Name) {
			continue
		}
		matches := true
		for i, word := range words {
			matches = matches && tokens[i].Is(word)
		}
		if matches {
			best = rule
		}
	}
	return best
}

func ruleNamed(name string) grammar.Rule {
	for _, rule := range grammar.Rules() {
		if rule.Name == name {
			return rule
		}
	}
	return grammar.Rule{}
}

func ruleMeaning(r grammar.Rule) string {
	return fmt.Sprintf("```text\n%s\n```\n\n%s\n\n```text\n%s\n```\n", r.Form, r.Meaning, r.Example)
}

// pathOf returns the path of the step that begins at an offset, "" if there is none or the
// text has faults.
func pathOf(text string, start int) string {
	tree, err := language.Parse(text)
	if err != nil {
		return ""
	}
	for located := range tree.All() {
		if int(located.Step.Pos()) == start {
			return "\nPath of this step: `" + located.Path + "`\n"
		}
	}
	return ""
}

func attributeMeaning(name string, n names.Names) string {
	if name == "email" {
		return "The address of the contact, a string."
	}
	for _, a := range n.Attributes {
		if a.Name == name {
			text := fmt.Sprintf("The attribute `%s`, of the type %s.", a.Name, a.Type)
			if len(a.EnumValues) > 0 {
				text += " Values: " + core.QuotedList(a.EnumValues) + "."
			}
			return paragraph(text, a.Description)
		}
	}
	return "The attribute `" + name + "` of the contact."
}

// nameMeaning describes a template, topic, list or segment.
func nameMeaning(kind named, name string, n names.Names) string {
	quoted := core.Quote(name)
	switch kind {
	case namedTemplate:
		for _, t := range n.Templates {
			if t.Slug == name {
				return paragraph("The template "+quoted+".", "Subject: "+core.Quote(t.Subject))
			}
		}
		return "The template " + quoted + "."
	case namedTopic:
		for _, t := range n.Topics {
			if t.Name == name {
				state := map[bool]string{true: "subscribed", false: "opted out"}[t.Default == "OPT_IN"]
				return paragraph("The topic "+quoted+". Contacts without a choice are "+state+".", t.Description)
			}
		}
		return "The topic " + quoted + "."
	case namedList:
		return setMeaning("list", quoted, name, n.Lists)
	case namedSegment:
		return setMeaning("segment", quoted, name, n.Segments)
	}
	return ""
}

func setMeaning(kind, quoted, key string, sets []names.Set) string {
	for _, set := range sets {
		if set.Key == key {
			text := fmt.Sprintf("The %s %s, with %d contacts.", kind, quoted, set.Members)
			if set.Source != "" {
				text += "\n\n```text\n" + strings.ReplaceAll(set.Source, "```", "'''") + "\n```"
			}
			return paragraph(text, set.Description)
		}
	}
	return "The " + kind + " " + quoted + "."
}

// paragraph appends a text of the organization to a description. It is cut and shown as
// plain text, not as Markdown.
func paragraph(text, more string) string {
	if more = core.Quotable(more, 200); more == "" {
		return text
	}
	return text + "\n\n" + plain.Replace(more)
}

// plain escapes the characters with which Markdown marks links, code and HTML.
var plain = strings.NewReplacer("\\", "\\\\", "[", "\\[", "]", "\\]", "<", "\\<", "`", "\\`", "*", "\\*", "_", "\\_", "!", "\\!")
