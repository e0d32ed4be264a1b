package reference

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/rest/docs/article"
)

// Routes returns the page that lists the routes of the API.
func Routes(c Config) article.Article {
	t := newTable("Operation", "Route", "What it does", "Scopes")
	for _, o := range c.operations() {
		for _, route := range o.Routes {
			t.row(link(o.Name), fmt.Sprintf("`%s` `%s`", route.Method, route.Path), article.Escape(o.summary()), o.scopes())
		}
	}
	return article.Article{
		Path: "/api", Title: "Routes of the API", Group: Group,
		Summary: "Every route of the public API. An operation with a tool has the same effect and needs the same scopes as the tool.",
		Body: fmt.Sprintf("At `%s`. `GET /v1/_health` and `GET /v1/openapi.json` need no credential. "+
			"[Send requests and read answers](/api/conventions) has the rules that apply to every route.\n\n%s", c.BaseURL, t.String()),
	}
}

// Tools returns the page that lists the tools of the agent endpoint.
func Tools(c Config) article.Article {
	t := newTable("Tool", "What it does", "Effect", "Scopes")
	for _, o := range c.operations() {
		if o.Tool {
			t.row("[`"+o.Name+"`](/tools/"+o.Name+")", article.Escape(o.summary()), o.effect(), o.scopes())
		}
	}
	return article.Article{
		Path: "/tools", Title: "Tools of the agent endpoint", Label: "Tools", Group: Group,
		Summary: "Every tool that assistants can call. A client sees the tools that its scopes allow.",
		Body: fmt.Sprintf("At `%s/mcp`. [Call the agent endpoint](/guides/agent-endpoint) describes requests, results and confirmation.\n\n%s",
			c.MCPURL, t.String()),
	}
}

// link returns a link to the page of an operation.
func link(name string) string { return "[`" + name + "`](op:" + name + ")" }

// details returns the operation's purpose without its summary, as Markdown.
func (o operation) details() string {
	parts := strings.Split(strings.TrimSpace(strings.TrimPrefix(o.Purpose, o.summary())), "\n\n")
	for i := range parts {
		parts[i] = article.Escape(parts[i])
	}
	return strings.Join(parts, "\n\n")
}
