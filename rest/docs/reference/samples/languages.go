package samples

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/rest/docs/article"
)

// Texts returns the request in every language.
func (r Request) Texts() []article.Code {
	return []article.Code{
		{Label: "curl", Language: "shell", Text: r.Curl()},
		{Label: "Go", Language: "go", Text: r.Go()},
		{Label: "TypeScript", Language: "typescript", Text: r.TypeScript()},
		{Label: "Python", Language: "python", Text: r.Python()},
	}
}

// Curl returns a command for a shell.
func (r Request) Curl() string {
	var b strings.Builder
	b.WriteString("curl -s ")
	if r.Method != "GET" {
		b.WriteString("-X " + r.Method + " ")
	}
	fmt.Fprintf(&b, "'%s' \\\n  -H \"Authorization: Bearer $API_KEY\"", r.URL)
	if r.Key != "" {
		fmt.Fprintf(&b, " \\\n  -H 'Idempotency-Key: %s'", r.Key)
	}
	if r.Body != "" {
		fmt.Fprintf(&b, " \\\n  -H 'Content-Type: application/json' \\\n  -d '%s'", strings.ReplaceAll(r.Body, "'", `'\''`))
	}
	return b.String()
}

// Go returns a program.
func (r Request) Go() string {
	imports := []string{"io", "log", "net/http", "os"}
	body := "nil"
	var declared string
	if r.Body != "" {
		imports = append(imports, "strings")
		declared = "\tbody := strings.NewReader(`" + r.Body + "`)\n"
		body = "body"
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, name := range imports {
		fmt.Fprintf(&b, "\t%q\n", name)
	}
	b.WriteString(")\n\nfunc main() {\n" + declared)
	fmt.Fprintf(&b, "\trequest, err := http.NewRequest(%q, %q, %s)\n", r.Method, r.URL, body)
	b.WriteString("\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n")
	b.WriteString("\trequest.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(\"API_KEY\"))\n")
	for _, h := range r.headers() {
		fmt.Fprintf(&b, "\trequest.Header.Set(%q, %q)\n", h[0], h[1])
	}
	b.WriteString("\tanswer, err := http.DefaultClient.Do(request)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n")
	b.WriteString("\tdefer answer.Body.Close()\n\tlog.Println(answer.Status)\n\tio.Copy(os.Stdout, answer.Body)\n}")
	return b.String()
}

// TypeScript returns a module that also is JavaScript.
func (r Request) TypeScript() string {
	var b strings.Builder
	fmt.Fprintf(&b, "const answer = await fetch(%s, {\n", strconv.Quote(r.URL))
	if r.Method != "GET" {
		fmt.Fprintf(&b, "  method: %q,\n", r.Method)
	}
	b.WriteString("  headers: {\n    Authorization: `Bearer ${process.env.API_KEY}`,\n")
	for _, h := range r.headers() {
		fmt.Fprintf(&b, "    %q: %q,\n", h[0], h[1])
	}
	b.WriteString("  },\n")
	if r.Body != "" {
		fmt.Fprintf(&b, "  body: JSON.stringify(%s),\n", strings.ReplaceAll(r.Body, "\n", "\n  "))
	}
	b.WriteString("});\nif (!answer.ok) throw new Error(await answer.text());\nconsole.log(await answer.text());")
	return b.String()
}

// Python returns a program.
func (r Request) Python() string {
	var b strings.Builder
	b.WriteString("import os\nimport urllib.request\n\n")
	fmt.Fprintf(&b, "request = urllib.request.Request(\n    %s,\n", strconv.Quote(r.URL))
	if r.Method != "GET" {
		fmt.Fprintf(&b, "    method=%q,\n", r.Method)
	}
	b.WriteString("    headers={\n        \"Authorization\": f\"Bearer {os.environ['API_KEY']}\",\n")
	for _, h := range r.headers() {
		fmt.Fprintf(&b, "        %q: %q,\n", h[0], h[1])
	}
	b.WriteString("    },\n")
	if r.Body != "" {
		fmt.Fprintf(&b, "    data=r'''%s'''.encode(),\n", r.Body)
	}
	b.WriteString(")\nwith urllib.request.urlopen(request) as answer:\n    print(answer.read().decode())")
	return b.String()
}

// headers returns the headers of the request without the credential.
func (r Request) headers() [][2]string {
	var headers [][2]string
	if r.Key != "" {
		headers = append(headers, [2]string{"Idempotency-Key", r.Key})
	}
	if r.Body != "" {
		headers = append(headers, [2]string{"Content-Type", "application/json"})
	}
	return headers
}
