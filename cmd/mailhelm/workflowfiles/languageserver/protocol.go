package languageserver

// The types below are the part of the protocol that the server uses. Their fields are
// described in the specification, version 3.17.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type identifier struct {
	URI string `json:"uri"`
}

type openParams struct {
	Document struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	Document struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	Changes []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
}

type documentParams struct {
	Document identifier `json:"textDocument"`
}

type placeParams struct {
	Document identifier `json:"textDocument"`
	Position position   `json:"position"`
}

type severity int

const (
	severityError   severity = 1
	severityWarning severity = 2
)

type diagnostic struct {
	Range    span     `json:"range"`
	Severity severity `json:"severity"`
	Code     string   `json:"code,omitempty"`
	Source   string   `json:"source"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

type itemKind int

const (
	kindField    itemKind = 5
	kindValue    itemKind = 12
	kindKeyword  itemKind = 14
	kindConstant itemKind = 21
	kindEvent    itemKind = 23
)

type item struct {
	Label         string   `json:"label"`
	Kind          itemKind `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation string   `json:"documentation,omitempty"`
	TextEdit      textEdit `json:"textEdit"`
}

type showMessageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// capabilities is the answer to initialize.
func capabilities(version string) map[string]any {
	return map[string]any{
		"serverInfo": map[string]string{"name": "mailhelm", "version": version},
		"capabilities": map[string]any{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           map[string]any{"openClose": true, "change": 1},
			"hoverProvider":              true,
			"completionProvider":         map[string]any{"triggerCharacters": []string{".", "\"", " "}},
			"documentFormattingProvider": true,
		},
	}
}
