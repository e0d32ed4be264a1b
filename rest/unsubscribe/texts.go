package unsubscribe

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

// textsFile has the texts of the pages by language and key. Each name in braces is replaced: {org} is the name
// of the organization, {topic} the title of the link's topic, {email} the masked address.
//
//go:embed texts.json
var textsFile []byte

// fallback is the language of organizations that chose none of the languages of the texts.
const fallback = "en"

// catalogues has the texts by language and key.
type catalogues map[string]map[string]string

func parseTexts() (catalogues, error) {
	var all catalogues
	if err := json.Unmarshal(textsFile, &all); err != nil {
		return nil, fmt.Errorf("texts of the unsubscribe pages: %w", err)
	}
	return all, nil
}

// texts are the texts for one visit.
type texts struct {
	language string
	byKey    map[string]string
	fill     *strings.Replacer
}

// of returns the texts in a language, such as "de" or "de-AT", for a visit. The visit of an
// invalid link has no names.
func (all catalogues) of(language string, v unsubscribe.Visit) texts {
	topic, _ := v.Topic()
	t := texts{language: all.match(language), fill: strings.NewReplacer("{org}", v.OrgName, "{topic}", topic.Title, "{email}", v.Email)}
	if t.language == "" {
		t.language = fallback
	}
	t.byKey = all[t.language]
	return t
}

// match returns the language of the texts for a language tag, "" for none.
func (all catalogues) match(tag string) string {
	base, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-"), "-")
	if _, known := all[base]; !known {
		return ""
	}
	return base
}

// preferred returns the first language in a header Accept-Language that has texts, "" for
// none. Browsers list languages in the order of preference, so weights are ignored.
func (all catalogues) preferred(header string) string {
	for entry := range strings.SplitSeq(header, ",") {
		tag, _, _ := strings.Cut(entry, ";")
		if language := all.match(tag); language != "" {
			return language
		}
	}
	return ""
}

// say returns the text with the key, with the names of the visit.
func (t texts) say(key string) string { return t.fill.Replace(t.byKey[key]) }
