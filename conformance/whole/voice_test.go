package whole

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// ourWords are the members in which we speak: of a problem, and of a result.
var ourWords = []string{
	"title", "detail", "next_step", "message", "hint", "reason", "instructions",
	"summary", "mailable_note", "diagnosis", "claim", "step",
}

// spoken returns the sentences of ours in an answer, by their place. The structured
// content of a refusal is a problem; the text with it is ours too.
func (a answer) spoken() map[string]string {
	sentences := map[string]string{}
	collect("", a.object, sentences)
	result := a.result()
	if result["isError"] == true {
		for _, text := range a.blocks() {
			sentences["text"] += text
		}
	}
	return sentences
}

func collect(at string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			text, isText := member.(string)
			// A check's detail is ours; a contact's attribute of that name is not.
			if isText && slices.Contains(ourWords, name) && !strings.HasSuffix(at, ".attributes") {
				into[at+"."+name] = text
			}
			collect(at+"."+name, member, into)
		}
	case []any:
		for _, item := range v {
			collect(at, item, into)
		}
	}
}

// blocks returns the text blocks of a tool's result.
func (a answer) blocks() []string {
	var texts []string
	content, _ := a.result()["content"].([]any)
	for _, block := range content {
		if text, ok := block.(map[string]any)["text"].(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

var quoted = regexp.MustCompile("`[^`]*`|" + `"[^"]*"`)

// longestSentence bounds what a refusal says, in characters. Names in it are
// clipped, and so is a list of them.
const longestSentence = 1600

// checkVoice checks what must hold for every answer: no text block and no sentence of
// ours has a concealed character, no sentence contains a line break of the text, and the
// text is always in quotation marks.
func checkVoice(t *testing.T, what string, a answer, texts ...hostile) {
	t.Helper()
	for name, values := range a.header {
		for _, value := range append(values, name) {
			if r, found := concealed(value); found || strings.ContainsAny(value, "\r\n") {
				t.Errorf("%s: header %s holds %U: %q", what, name, r, value)
			}
		}
	}
	for _, text := range a.blocks() {
		if r, found := concealed(text); found {
			t.Errorf("%s: the text block holds %U: %.300q", what, r, text)
		}
	}
	for at, sentence := range a.spoken() {
		r, found := concealed(sentence)
		if found || strings.ContainsAny(sentence, "\r\n") || utf8.RuneCountInString(sentence) > longestSentence {
			t.Errorf("%s: %s holds %U, a line break, or %d characters: %.300q", what, at, r, utf8.RuneCountInString(sentence), sentence)
		}
		unquoted := quoted.ReplaceAllString(sentence, "")
		for _, h := range texts {
			for _, piece := range h.sentences {
				if strings.Contains(unquoted, piece) {
					t.Errorf("%s: %s says %q in our own voice: %.400q", what, at, piece, sentence)
				}
			}
		}
	}
}
