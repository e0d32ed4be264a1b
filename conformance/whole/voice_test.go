package whole

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// ourWords has the members that contain the product's own sentences, in problem documents
// and in results.
var ourWords = []string{
	"title", "detail", "next_step", "message", "hint", "reason", "instructions",
	"summary", "mailable_note", "diagnosis", "claim", "step",
}

// ownSentences returns the product's own sentences in an answer, keyed by their path. If a
// tool returns an error, its text blocks are the product's own too.
func (a answer) ownSentences() map[string]string {
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
			// A sentence in a member "detail" is the product's own, except in the attributes
			// of a contact.
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

// longestSentence is the maximum number of characters of an error sentence. The product
// shortens the names, and the lists of names, that such a sentence contains.
const longestSentence = 1600

// checkVoice checks rules of every answer. Headers, text blocks and the product's own
// sentences have no concealed characters. Sentences have no line breaks and a limited
// length, and contain the given hostile texts only in quotation marks.
func checkVoice(t *testing.T, what string, a answer, texts ...hostile) {
	t.Helper()
	for name, values := range a.header {
		for _, value := range append(values, name) {
			if r, found := findConcealed(value); found || strings.ContainsAny(value, "\r\n") {
				t.Errorf("%s: header %s holds %U: %q", what, name, r, value)
			}
		}
	}
	for _, text := range a.blocks() {
		if r, found := findConcealed(text); found {
			t.Errorf("%s: the text block holds %U: %.300q", what, r, text)
		}
	}
	for at, sentence := range a.ownSentences() {
		r, found := findConcealed(sentence)
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
