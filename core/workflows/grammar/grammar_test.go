package grammar_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/grammar"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

var update = flag.Bool("update", false, "write the golden files anew")

// schema has the names of the examples.
var schema = language.Schema{
	Schema: predicate.Schema{
		Attributes: map[string]predicate.AttributeType{
			"plan": {Type: predicate.Enum, EnumValues: []string{"trial", "pro"}}, "renewal": {Type: predicate.Datetime}, "city": {Type: predicate.String},
		},
		Topics:   map[string]bool{"news": true},
		Lists:    map[string]string{"vip": "list-1"},
		Segments: map[string]string{"new-customers": "segment-1"},
	},
	Templates: map[string]bool{"welcome": true, "reminder": true, "pro-tips": true, "upgrade": true, "short": true, "long": true},
}

// wrong has mistakes for each rule, by its name.
var wrong = map[string][]string{
	"workflow":      {`workflow Welcome v1 { }`, `workflow "Welcome" v2 { }`},
	"enter on":      {`enter on segment "new-custmers"`, `enter on event opened`, `enter on 3d before attr.renewal`, `enter on 3 days before attr.city`},
	"exit when":     {`exit "bought" exists(activity.purchase)`, `exit when suppressed`},
	"send window":   {`send window 9-17 in contact timezone`, `send window 9am-9am in contact timezone`},
	"reentry":       {`reentry on match`},
	"frequency cap": {`frequency cap many per week`},
	"enroll":        {`enroll everyone`},
	"send":          {`send welcome`, `send "welcom"`, `send "welcome" via "news"`, `send "welcome" via topic "news" transactional`},
	"wait":          {`wait 3d`, `wait 0 days`, `wait for 3 days`, `wait 4000 days`},
	"wait until":    {`wait until tomorrow`, `wait until attr.city`},
	"wait up to":    {`wait up to 3 days`, `wait up to 3 days until suppressed { exit }`},
	"if":            {`if attr.plan == "pro" { exit }`, `if attr.plna = "pro" { exit }`, `else { exit }`},
	"split":         {`split { 50%: { exit } 40%: { exit } }`, `split { 100%: { exit } }`},
	"hold out":      {`hold out 100%`},
	"repeat":        {`repeat up to 101 every 1 day { exit }`, `repeat 3 times { exit }`},
	"set":           {`set attr.plan = "gold"`, `set attr.email = "a@example.com"`},
	"add to list":   {`add to list "vpi"`},
	"exit":          {`stop`},
}

// source returns a whole workflow with a statement of a rule.
func source(rule grammar.Rule, statement string) string {
	switch {
	case rule.Kind == grammar.Whole:
		return statement
	case rule.Name == "enter on":
		return "workflow \"W\" v1 {\n" + statement + "\nsend \"welcome\"\n}\n"
	case rule.Kind == grammar.Setting:
		return "workflow \"W\" v1 {\nenter on activity.signup\n" + statement + "\nsend \"welcome\"\n}\n"
	}
	return "workflow \"W\" v1 {\nenter on activity.signup\n" + statement + "\n}\n"
}

// TestGoldenGrammar writes the reference from the rules and compares it with grammar.md.
// Each example must be valid and in its canonical spelling, and each wrong one must fail.
func TestGoldenGrammar(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, kind := range []struct {
		kind    grammar.Kind
		heading string
	}{{grammar.Whole, "The file"}, {grammar.Setting, "Settings"}, {grammar.Step, "Steps"}} {
		fmt.Fprintf(&b, "## %s\n\n", kind.heading)
		for _, rule := range grammar.Rules() {
			if rule.Kind == kind.kind {
				writeRule(t, &b, rule)
			}
		}
	}
	b.WriteString(conditions)
	if *update {
		if err := goldentest.Write("grammar.md", []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != grammar.Reference {
		t.Errorf("grammar.md differs; -update writes it anew. Got:\n%s", b.String())
	}
}

// conditions is the end of the reference.
const conditions = `## Conditions and limits

Conditions are [predicates](/guides/predicates), the language of segments. Durations inside of them are compact, such as ` + "`3d`" + `.

A source has at most 64 KiB, 200 steps and 20 exits. Steps are nested at most 10 deep. Each condition has the limits of predicates.
`

func writeRule(t *testing.T, b *strings.Builder, rule grammar.Rule) {
	t.Helper()
	valid := source(rule, rule.Example)
	tree, err := language.Parse(valid)
	if err != nil {
		t.Fatalf("the example of %s: %v", rule.Name, err)
	}
	if _, err = language.Check(tree, schema); err != nil {
		t.Errorf("the example of %s: %v", rule.Name, err)
	}
	if !strings.Contains(unindented(tree.String()), unindented(rule.Example)) {
		t.Errorf("the example of %s is not in its canonical spelling:\n%s", rule.Name, tree)
	}
	fmt.Fprintf(b, "### %s\n\n```text\n%s\n```\n\n%s\n\n```text\n%s\n```\n\n", rule.Name, rule.Form, rule.Meaning, rule.Example)
	if len(wrong[rule.Name]) == 0 {
		t.Errorf("%s has no wrong example", rule.Name)
	}
	b.WriteString("| Wrong | Message |\n|---|---|\n")
	for _, statement := range wrong[rule.Name] {
		_, err := language.Compile(source(rule, statement), schema)
		if err == nil {
			t.Errorf("the wrong example %s of %s is valid", statement, rule.Name)
			continue
		}
		message, _, _ := strings.Cut(err.Error(), "\n")
		_, message, _ = strings.Cut(message, ": ")
		fmt.Fprintf(b, "| `%s` | %s |\n", statement, escaper.Replace(message))
	}
	b.WriteByte('\n')
}

// escaper keeps text from being read as Markdown.
var escaper = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`)

// unindented removes the indents of lines.
func unindented(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// TestKeywordsAreComplete compares the keywords with the words that the parser of package
// language reads, in both directions.
func TestKeywordsAreComplete(t *testing.T) {
	t.Parallel()
	words := parsedWords(t)
	if len(words) < 40 {
		t.Fatalf("only the words %v were found, so the test would show nothing", words)
	}
	for _, word := range words {
		if !slices.Contains(grammar.Keywords(), word) {
			t.Errorf("the parser reads the word %q, which is no keyword", word)
		}
	}
	for _, word := range grammar.Keywords() {
		if !slices.Contains(words, word) && !slices.Contains(predicate.Keywords(), word) {
			t.Errorf("the keyword %q is not read by the parser", word)
		}
	}
}

// parsedWords returns the words in the source of the parser: arguments of the methods that
// read words, keys and values of the lists of words, and cases of a switch over them.
func parsedWords(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../language/parse*.go")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	literals := func(list []ast.Expr) {
		for _, e := range list {
			if literal, is := e.(*ast.BasicLit); is && literal.Kind == token.STRING {
				if word, err := strconv.Unquote(literal.Value); err == nil {
					words = append(words, word)
				}
			}
		}
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if method, is := n.Fun.(*ast.SelectorExpr); is && slices.Contains([]string{"accept", "word", "Is"}, method.Sel.Name) {
					literals(n.Args)
				}
			case *ast.ValueSpec:
				if name := n.Names[0].Name; name == "stepWords" || name == "unitWords" {
					literals(n.Values[0].(*ast.CompositeLit).Elts)
				}
			case *ast.FuncDecl:
				if n.Name.Name == "startsSetting" {
					ast.Inspect(n, func(n ast.Node) bool {
						if clause, is := n.(*ast.CaseClause); is {
							literals(clause.List)
						}
						return true
					})
				}
			}
			return true
		})
	}
	words = append(words, "v1") // a constant
	slices.Sort(words)
	return slices.DeleteFunc(slices.Compact(words), func(word string) bool { return word == "for" }) // only for a message
}
