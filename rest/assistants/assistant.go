package assistants

// Assistant is a way to connect to the agent endpoint.
type Assistant struct {
	// ID identifies the assistant in addresses of pages, such as "claude-code".
	ID string
	// Name is the product's own name.
	Name string
	// Kind groups the assistants on pages.
	Kind Kind
	// Public is true if the assistant connects from its maker's servers, so that the address
	// must be https and reachable from the public Internet.
	Public bool
	// Install opens the assistant and adds the server to it. It is "" if the assistant has no
	// such link.
	Install string
	// Steps are what the person does, in order.
	Steps []Step
}

// Kind is what an assistant is.
type Kind string

// The kinds, in the order of pages.
const (
	Application Kind = "Assistants"
	Library     Kind = "Libraries"
	Machine     Kind = "Programs without a person"
)

// Kinds has all kinds in the order of pages.
var Kinds = []Kind{Application, Library, Machine}

// Step is one step. Text is one or more sentences. Code, if it is not "", is a command, a
// file or a program to copy.
type Step struct {
	Text string
	// File is the name of the file that has Code as its content, "" for none.
	File string
	// Language is the language of Code: shell, json, toml, go or typescript.
	Language Language
	Code     string
}

// Language is the language of an example.
type Language string

// The languages of examples.
const (
	Shell      Language = "shell"
	JSON       Language = "json"
	TOML       Language = "toml"
	Go         Language = "go"
	TypeScript Language = "typescript"
)

// name is the name of the server in the configuration of assistants.
const name = "mailhelm"

// All returns all assistants in the order of pages. origin is the public address of the
// agent endpoint without a path, as in the configuration.
func All(origin string) []Assistant {
	address := origin + "/mcp"
	return []Assistant{
		claudeCode(address), claude(address), claudeDesktop(address), cursor(address), visualStudioCode(address),
		chatGPT(address), gemini(address), codex(address), bridged(address),
		goSDK(address), typeScriptSDK(address), machine(address),
	}
}
