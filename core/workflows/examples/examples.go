package examples

import (
	"embed"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

//go:embed *.workflow
var files embed.FS

// keys has the keys of the examples, from the simplest to the most complex.
var keys = []string{"welcome", "trial-ending", "win-back", "renewal", "onboarding", "spring-offer"}

// Example is a workflow as people write it.
type Example struct {
	// Key is the name of its file without the extension.
	Key    string
	Source string
}

// All returns all examples, from the simplest to the most complex.
func All() []Example {
	all := make([]Example, 0, len(keys))
	for _, key := range keys {
		source, err := files.ReadFile(key + ".workflow")
		if err != nil {
			panic(err) // the file is embedded
		}
		all = append(all, Example{key, string(source)})
	}
	return all
}

// About returns the comment at the top of the source: what the workflow does, in one line.
func (e Example) About() string {
	var words []string
	for line := range strings.SplitSeq(e.Source, "\n") {
		text, isComment := strings.CutPrefix(line, "#")
		if !isComment {
			break
		}
		words = append(words, strings.TrimSpace(text))
	}
	return strings.Join(words, " ")
}

// Schema returns the names that the examples use. Ids of lists and segments are those of no
// organization.
func Schema() language.Schema {
	s := language.Schema{
		Schema: predicate.Schema{
			Attributes: map[string]predicate.AttributeType{
				"plan":       {Type: predicate.Enum, EnumValues: []string{"free", "trial", "pro", "team"}},
				"timezone":   {Type: predicate.String},
				"onboarded":  {Type: predicate.Bool},
				"renewal":    {Type: predicate.Datetime},
				"trial_ends": {Type: predicate.Datetime},
			},
			Topics:     map[string]bool{"news": true, "tips": true, "offers": true},
			Lists:      map[string]string{"sleeping": "list-sleeping", "spring-buyers": "list-spring-buyers"},
			Segments:   map[string]string{"new-customers": "segment-new", "lapsed-customers": "segment-lapsed", "engaged-readers": "segment-engaged"},
			Activities: []string{"login", "project_created", "purchase", "signup"},
		},
		Templates: map[string]bool{},
	}
	for _, name := range []string{
		"welcome", "getting-started", "need-help", "trial-ends-soon", "trial-ended", "trial-offer", "we-miss-you", "come-back-offer",
		"renewal-announcement", "renewal-reminder", "renewal-confirmed", "confirm-account", "first-project", "invite-your-team",
		"team-webinar", "pro-features", "upgrade-to-pro", "spring-discount", "spring-gift", "thank-you",
	} {
		s.Templates[name] = true
	}
	return s
}
