package manifest

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// each calls read for each member of a section that has definitions by key. The path of a definition
// is that of the manifest until read knows another one.
func (r *reader) each(kind definitions.Kind, n node, read func(m member)) {
	r.declare(kind)
	for _, m := range r.object(n, "the section "+core.Quote(string(kind.Section()))) {
		r.begin(kind, m.name, archive.ManifestPath)
		line, column := place(r.text, m.at)
		r.result.Places[r.of] = Place{line, column}
		read(m)
		r.of = definitions.Ref{}
	}
}

// movedTo says in which file the definition is that is read.
func (r *reader) movedTo(path string) {
	if path != "" {
		r.result.Paths[r.of] = path
	}
}

// openSection begins to read the JSON file with all definitions of a kind, whose path the section
// consists of.
func (r *reader) openSection(kind definitions.Kind, n node) (path string, root node, ok bool) {
	r.declare(kind)
	path, isText := n.value.(string)
	if !isText {
		r.errorAt(n.at, WrongType, "The section "+core.Quote(string(kind.Section()))+" must be the path of a file.")
		return "", node{}, false
	}
	if _, ok = r.fileAt(n.at, path, []string{".json"}); ok {
		root, ok = r.open(path)
	}
	return path, root, ok
}

func (r *reader) lists(n node) {
	r.each(definitions.KindList, n, func(m member) {
		f := r.fields(m.node, "the list "+core.Quote(m.name), "name", "description")
		l := definitions.List{Key: m.name, Name: f.text("name", false), Description: f.text("description", false)}
		if l.Name == "" {
			l.Name = l.Key
		}
		if f.ok {
			r.result.Set.Lists = append(r.result.Set.Lists, l)
		}
	})
}

func (r *reader) topics(n node) {
	r.each(definitions.KindTopic, n, func(m member) {
		f := r.fields(m.node, "the topic "+core.Quote(m.name), "display_name", "description", "default_subscription_status")
		t := definitions.Topic{
			Name: m.name, DisplayName: f.text("display_name", false), Description: f.text("description", false), Default: f.text("default_subscription_status", true),
		}
		if t.DisplayName == "" {
			t.DisplayName = t.Name
		}
		if f.ok && t.Default != "OPT_IN" && t.Default != "OPT_OUT" {
			f.ok = false
			r.errorAt(f.by["default_subscription_status"].node.at, InvalidValue, "The default of the topic "+core.Quote(m.name)+" must be OPT_IN or OPT_OUT.")
		}
		if f.ok {
			r.result.Set.Topics = append(r.result.Set.Topics, t)
		}
	})
}

func (r *reader) segments(n node) {
	r.each(definitions.KindSegment, n, func(m member) {
		f := r.fields(m.node, "the segment "+core.Quote(m.name), "path", "name", "description")
		s := definitions.Segment{Key: m.name, Name: f.text("name", false), Description: f.text("description", false), Predicate: f.file("path", true)}
		r.movedTo(f.text("path", false))
		if s.Name == "" {
			s.Name = s.Key
		}
		if f.ok {
			r.result.Set.Segments = append(r.result.Set.Segments, s)
		}
	})
}

func (r *reader) workflows(n node) {
	r.each(definitions.KindWorkflow, n, func(m member) {
		f := r.fields(m.node, "the workflow "+core.Quote(m.name), "path")
		w := definitions.Workflow{Key: m.name, Source: f.file("path", true, ".flow")}
		r.movedTo(f.text("path", false))
		if f.ok {
			r.result.Set.Workflows = append(r.result.Set.Workflows, w)
		}
	})
}

// imageEndings are the endings of the names of images.
var imageEndings = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}

func (r *reader) images(n node) {
	r.declare(definitions.KindImage)
	if n.kind != array {
		r.errorAt(n.at, WrongType, `The section "images" must be an array of paths.`)
		return
	}
	seen := map[string]bool{}
	for _, item := range n.items {
		path, isText := item.value.(string)
		if !isText || seen[path] {
			r.errorAt(item.at, WrongType, `The section "images" has an item that is no path, or the same path twice.`)
			continue
		}
		seen[path] = true
		r.begin(definitions.KindImage, path, path)
		if content, ok := r.fileAt(item.at, path, imageEndings); ok && r.spend(item.at, path, content) {
			r.result.Set.Images = append(r.result.Set.Images, definitions.Image{Path: path, Content: content})
		}
		r.of = definitions.Ref{}
	}
}

func (r *reader) templates(n node) {
	r.each(definitions.KindTemplate, n, func(m member) {
		f := r.fields(m.node, "the template "+core.Quote(m.name), "path", "text", "subject", "testdata", "topic", "tags")
		t := definitions.Template{
			Key: m.name, Subject: f.text("subject", false), HTML: f.file("path", true, ".hbs", ".html", ".handlebars"), Text: f.file("text", false),
			Topic: f.text("topic", false), Tags: f.texts("tags"),
		}
		r.movedTo(f.text("path", false))
		if path := f.text("text", false); path != "" {
			r.result.Texts[m.name] = path
		}
		if t.Subject == "" {
			t.Subject = t.Key
		}
		if data, ok := f.by["testdata"]; ok && f.ok {
			t.TestData, f.ok = r.testData(data.node, f.text("testdata", false))
		}
		if f.ok {
			r.result.Set.Templates = append(r.result.Set.Templates, t)
		}
	})
}

func (r *reader) activityProperties(n node) {
	const kind = definitions.KindActivityProperty
	path, root, ok := r.openSection(kind, n)
	if !ok {
		return
	}
	for _, activity := range r.object(root, "the file "+core.Quote(path)) {
		for _, m := range r.object(activity.node, "the activity "+core.Quote(activity.name)) {
			p := definitions.ActivityProperty{Activity: activity.name, Property: m.name}
			r.begin(kind, p.Key(), path)
			f := r.fields(m.node, "the property "+core.Quote(p.Key()), "type", "description")
			p.Type, p.Description = f.text("type", true), f.text("description", false)
			if f.ok {
				r.result.Set.ActivityProperties = append(r.result.Set.ActivityProperties, p)
			}
			r.of = definitions.Ref{}
		}
	}
}
