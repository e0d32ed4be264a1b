package script

import (
	"embed"
	"strings"
)

//go:embed examples
var examples embed.FS

// exampleURL is the base URL of the API in the files of the examples.
const exampleURL = "https://api.example.com"

// Server is an example of a customer's server: functions that set the visitor cookie after a
// login, and clear it at logout. It needs no library.
type Server struct {
	// ID is the language as a part of addresses, such as "nodejs".
	ID string
	// Name is the language as people write it, such as "Node.js".
	Name string
	// Language is the name of the language for code blocks in Markdown.
	Language string
	// File is a name for the file.
	File string
	// Code is the program. It reads the API key from the environment variable
	// MAILHELM_API_KEY, and sets the cookie for the domain example.com, which customers replace.
	Code string
}

// Servers returns the examples for the server at baseURL, the base URL of the API without a
// trailing slash, in the order in which pages show them.
func Servers(baseURL string) []Server {
	servers := []Server{
		{ID: "go", Name: "Go", Language: "go", File: "visitor.go", Code: "visitor.go.txt"},
		{ID: "nodejs", Name: "Node.js", Language: "javascript", File: "visitor.mjs", Code: "visitor.mjs"},
		{ID: "python", Name: "Python", Language: "python", File: "visitor.py", Code: "visitor.py"},
		{ID: "php", Name: "PHP", Language: "php", File: "visitor.php", Code: "visitor.php"},
		{ID: "ruby", Name: "Ruby", Language: "ruby", File: "visitor.rb", Code: "visitor.rb"},
		{ID: "shell", Name: "Shell, with curl and jq", Language: "sh", File: "visitor.sh", Code: "visitor.sh"},
	}
	for i := range servers {
		code, err := examples.ReadFile("examples/" + servers[i].Code)
		if err != nil {
			panic(err) // the files are embedded
		}
		servers[i].Code = strings.ReplaceAll(string(code), exampleURL, baseURL)
	}
	return servers
}
