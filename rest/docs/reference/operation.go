package reference

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/rest/docs/article"
	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
	"github.com/mailhelm/mailhelm/rest/docs/reference/samples"
)

// operationPage returns the page of an operation of the API.
func (c Config) operationPage(o operation) (article.Article, error) {
	input, err := parse(o.declared.Input(core.REST))
	if err != nil {
		return article.Article{}, err
	}
	var b strings.Builder
	for _, r := range o.Routes {
		fmt.Fprintf(&b, "`%s` `%s`\n\n", r.Method, r.Path)
	}
	b.WriteString(o.details() + "\n\n")
	b.WriteString(o.facts(core.REST))
	o.arguments(&b, input)
	if err := o.result(&b, core.REST); err != nil {
		return article.Article{}, err
	}
	o.errors(&b, core.REST)
	shown, err := c.routeExamples(o)
	return article.Article{
		Path: "/api/" + o.Name, Title: o.Title, Group: Group, Part: partOf(o.Name), Parent: "/api",
		Summary: article.Escape(o.summary()), Body: b.String(), Examples: shown,
	}, err
}

// facts returns a table with the properties of the operation on a surface: its effect and
// its scopes, whether it needs a confirmation, and the page of its other surface. An
// operation that needs a confirmation has no route.
func (o operation) facts(surface core.Surface) string {
	t := newTable("Property", "Value")
	if surface == core.Agent {
		t.row("Title", article.Escape(o.Title))
	} else {
		t.row("Operation", "`"+o.Name+"`")
	}
	t.row("Effect", o.effect())
	t.row("Scopes", o.scopes())
	switch {
	case surface == core.Agent && o.Confirms:
		t.row("Confirmation", "needs the [agreement of a person](/guides/agent-endpoint#confirmation-by-a-person)")
	case surface == core.Agent:
		t.row("Confirmation", "none")
	case o.Tool:
		t.row("Tool", "[`"+o.Name+"`](/tools/"+o.Name+")")
	}
	if surface == core.Agent && len(o.Routes) > 0 {
		t.row("Route", fmt.Sprintf("[`%s %s`](/api/%s)", o.Routes[0].Method, o.Routes[0].Path, o.Name))
	}
	if o.GitOwned != core.GitIndifferent {
		t.row("Git", "refused with "+errorLink(core.CodeGitOwned)+", or turned into a pull request, if a repository owns the definitions")
	}
	return t.String() + "\n"
}

// arguments writes the tables of the arguments: in the path, in the query and in the body.
func (o operation) arguments(b *strings.Builder, input node) {
	route := o.Routes[0]
	inPath := func(name string) bool { return strings.Contains(route.Path, "{"+name+"}") }
	var path, others properties
	for _, member := range input.Properties {
		if inPath(member.name) {
			path = append(path, member)
		} else {
			others = append(others, member)
		}
	}
	required := func(name string) bool { return inPath(name) || slices.Contains(input.Required, name) }
	section(b, "Path parameters", memberTable(path, required))
	switch {
	case !o.route().TakesBody:
		section(b, "Query parameters", memberTable(others, required))
	case route.Items != "":
		section(b, "Body", fmt.Sprintf("A list of %s, or one of them.\n\n", route.Items)+itemTable(others, route.Items))
	default:
		section(b, "Body", memberTable(others, required))
	}
	if o.Effect != core.Reads {
		section(b, "Headers", "`Idempotency-Key`: at most 255 characters. For at least 24 hours, a [repetition](/guides/idempotency-and-confirmation) with the same key gets the first answer again.\n")
	}
}

// itemTable returns the table of the members of the items that a body lists.
func itemTable(members properties, items string) string {
	for _, m := range members {
		if m.name == items && m.node.Items != nil {
			return memberTable(m.node.Items.Properties, func(name string) bool { return slices.Contains(m.node.Items.Required, name) })
		}
	}
	return ""
}

// route returns the first route of the operation, in the form of package samples.
func (o operation) route() samples.Route {
	r := o.Routes[0]
	return samples.Route{Method: r.Method, Path: r.Path, Items: r.Items, TakesBody: r.TakesBody()}
}

// section writes a heading with a text, unless the text is empty.
func section(b *strings.Builder, heading, text string) {
	if text != "" {
		fmt.Fprintf(b, "## %s\n\n%s\n", heading, text)
	}
}

// result writes the section about the answer on a surface.
func (o operation) result(b *strings.Builder, surface core.Surface) error {
	output, err := parse(o.declared.Output(surface))
	if err != nil {
		return err
	}
	table := memberTable(output.objects(), func(string) bool { return false })
	if surface == core.Agent {
		section(b, "Result", table)
		return nil
	}
	route := o.Routes[0]
	status := fmt.Sprintf("Status %d", route.Success)
	if route.MayCreate {
		status += ", or 201 if a record was created"
	}
	switch {
	case route.Success == http.StatusNoContent:
		section(b, "Answer", status+", without a body.\n")
	default:
		section(b, "Answer", status+".\n\n"+table)
	}
	return nil
}

// routeExamples returns the example of a request in every language, and its answer.
func (c Config) routeExamples(o operation) ([]article.Example, error) {
	request, err := samples.Of(o.OperationInfo, o.route(), c.BaseURL)
	if err != nil {
		return nil, err
	}
	shown := []article.Example{{Title: "Request", Texts: request.Texts()}}
	answer, err := examples.Of(o.Name)
	if err != nil || answer.Status == 0 {
		return shown, err
	}
	text := "no body"
	if len(answer.Body) > 0 {
		text = indented(answer.Body)
	}
	title := fmt.Sprintf("Answer, %d %s", answer.Status, http.StatusText(answer.Status))
	return append(shown, article.Example{Title: title, Texts: []article.Code{{Language: "json", Text: text}}}), nil
}

// partOf returns the folder of an operation in the navigation: its domain in words.
func partOf(operation string) string {
	domain := strings.ReplaceAll(rest.DomainOf(operation), "-", " ")
	return strings.ToUpper(domain[:1]) + domain[1:]
}
