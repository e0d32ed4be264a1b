package manifest

import (
	"encoding/json"

	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// The folders and files of a bundle that is written.
const (
	attributesFile         = "audience/attributes.json"
	activityPropertiesFile = "audience/activity_properties.json"
	predicateFolder        = "audience/"
	templateFolder         = "templates/"
	testDataFolder         = "fixtures/"
	workflowFolder         = "workflows/"
)

// section is a part of the manifest that is written.
type section struct {
	name  definitions.Section
	value any
}

// Write returns the files of a bundle with the declared kinds of a sorted set.
func Write(set *definitions.Set) archive.Tree {
	w := &writer{set: set, tree: archive.Tree{}}
	for _, kind := range definitions.Kinds() {
		if set.Declared[kind] {
			w.sections = append(w.sections, section{kind.Section(), w.section(kind)})
		}
	}
	w.tree[archive.ManifestPath] = w.manifest()
	return w.tree
}

type writer struct {
	set      *definitions.Set
	tree     archive.Tree
	sections []section
}

// manifest returns the manifest with the sections in their order.
func (w *writer) manifest() []byte {
	text := []byte("{")
	for i, s := range w.sections {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, encode(string(s.name), "")...)
		text = append(text, ':')
		text = append(text, encode(s.value, "")...)
	}
	return indented(append(text, '}'))
}

// indented returns JSON with a line for each member.
func indented(text []byte) []byte {
	return encode(json.RawMessage(text), "  ")
}

// section writes the files of a kind, and returns its part of the manifest.
func (w *writer) section(kind definitions.Kind) any {
	switch kind {
	case definitions.KindAttribute:
		w.tree[attributesFile] = encode(schemaOf(w.set.Attributes), "  ")
		return attributesFile
	case definitions.KindActivityProperty:
		w.tree[activityPropertiesFile] = encode(w.activityProperties(), "  ")
		return activityPropertiesFile
	case definitions.KindList:
		return w.lists()
	case definitions.KindSegment:
		return w.segments()
	case definitions.KindTopic:
		return w.topics()
	case definitions.KindImage:
		return w.images()
	case definitions.KindTemplate:
		return w.templates()
	default:
		return w.workflows()
	}
}

func (w *writer) activityProperties() any {
	all := map[string]map[string]map[string]string{}
	for _, p := range w.set.ActivityProperties {
		if all[p.Activity] == nil {
			all[p.Activity] = map[string]map[string]string{}
		}
		all[p.Activity][p.Property] = withoutEmpty(map[string]string{"type": p.Type, "description": p.Description})
	}
	return all
}

// withoutEmpty returns the members that have a value.
func withoutEmpty(members map[string]string) map[string]string {
	for name, value := range members {
		if value == "" {
			delete(members, name)
		}
	}
	return members
}

func (w *writer) lists() any {
	all := map[string]any{}
	for _, l := range w.set.Lists {
		all[l.Key] = withoutEmpty(map[string]string{"name": l.Name, "description": l.Description})
	}
	return all
}

func (w *writer) topics() any {
	all := map[string]any{}
	for _, t := range w.set.Topics {
		all[t.Name] = withoutEmpty(map[string]string{"display_name": t.DisplayName, "description": t.Description, "default_subscription_status": t.Default})
	}
	return all
}

func (w *writer) segments() any {
	all := map[string]any{}
	for _, s := range w.set.Segments {
		path := predicateFolder + s.Key + ".predicate"
		w.tree[path] = []byte(s.Predicate)
		all[s.Key] = withoutEmpty(map[string]string{"path": path, "name": s.Name, "description": s.Description})
	}
	return all
}

func (w *writer) images() any {
	all := []string{}
	for _, i := range w.set.Images {
		w.tree[i.Path] = i.Content
		all = append(all, i.Path)
	}
	return all
}

func (w *writer) workflows() any {
	all := map[string]any{}
	for _, flow := range w.set.Workflows {
		path := workflowFolder + flow.Key + ".flow"
		w.tree[path] = []byte(flow.Source)
		all[flow.Key] = map[string]string{"path": path}
	}
	return all
}

func (w *writer) templates() any {
	all := map[string]any{}
	for _, t := range w.set.Templates {
		entry := map[string]any{"path": templateFolder + t.Key + ".hbs", "subject": t.Subject}
		w.tree[templateFolder+t.Key+".hbs"] = []byte(t.HTML)
		if t.Text != "" {
			entry["text"] = templateFolder + t.Key + ".txt"
			w.tree[templateFolder+t.Key+".txt"] = []byte(t.Text)
		}
		if len(t.TestData) > 0 {
			folder := testDataFolder + t.Key + "/"
			entry["testdata"] = folder
			for name, file := range fileNames(t.TestData) {
				w.tree[folder+file+".json"] = indented(t.TestData[name])
			}
		}
		if t.Topic != "" {
			entry["topic"] = t.Topic
		}
		if len(t.Tags) > 0 {
			entry["tags"] = t.Tags
		}
		all[t.Key] = entry
	}
	return all
}
