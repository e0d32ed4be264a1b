package plan

import (
	"slices"

	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// Action is what is done with a definition.
type Action string

// The actions. Skip leaves a definition that would be deleted, and says why. Invalid is a definition
// with an error, because of which nothing of the bundle is applied.
const (
	Create    Action = "create"
	Update    Action = "update"
	Unchanged Action = "unchanged"
	Archive   Action = "archive"
	Delete    Action = "delete"
	Skip      Action = "skip"
	Invalid   Action = "invalid"
)

// The codes of diagnostics about a plan.
const (
	ReferencedBy = "referenced_by"
	GitOwned     = "git_owned"
)

// Plan is what has to be done, in the order in which it is done.
type Plan struct {
	Applicable  bool                     `json:"applicable" jsonschema_description:"Whether the bundle can be applied: no diagnostic is an error."`
	Prune       bool                     `json:"prune"`
	Totals      map[Action]int           `json:"totals" voice:"ours" jsonschema_description:"The number of objects by action."`
	Objects     []Object                 `json:"objects"`
	Diagnostics []definitions.Diagnostic `json:"diagnostics" jsonschema_description:"What is wrong with the bundle as a whole."`
}

// Object is a definition with what is done with it. Path is that of its file in the bundle, "" for a
// definition that the bundle does not have.
type Object struct {
	Kind        definitions.Kind         `json:"kind" jsonschema:"enum=attribute,enum=activity_property,enum=list,enum=segment,enum=topic,enum=image,enum=template,enum=workflow"`
	Key         string                   `json:"key" voice:"untrusted"`
	Path        string                   `json:"path" voice:"untrusted"`
	Action      Action                   `json:"action" jsonschema:"enum=create,enum=update,enum=unchanged,enum=archive,enum=delete,enum=skip,enum=invalid"`
	Diagnostics []definitions.Diagnostic `json:"diagnostics"`
}

// Question is what a plan is made from.
type Question struct {
	// Held has the definitions of the organization, and FromGit those of them that its repository
	// defines.
	Held    *definitions.Set
	FromGit map[definitions.Ref]bool
	// Wanted has the definitions of the bundle, with the kinds that it declares. Paths has the
	// paths of their files.
	Wanted *definitions.Set
	Paths  map[definitions.Ref]string
	// Faults and Diagnostics are what is wrong with definitions of the bundle, and with the bundle.
	Faults      map[definitions.Ref][]definitions.Diagnostic
	Diagnostics []definitions.Diagnostic
	// Prune removes definitions of declared kinds that the bundle does not have.
	Prune bool
	// UsedBy returns the keys of the segments of a set that test an attribute.
	UsedBy func(segments []definitions.Segment, attribute string) []string
}

// removal is what Prune does with definitions of a kind; kinds without one are kept.
var removal = map[definitions.Kind]Action{
	definitions.KindAttribute: Delete, definitions.KindActivityProperty: Delete, definitions.KindList: Archive, definitions.KindSegment: Archive,
	definitions.KindTopic: Archive, definitions.KindWorkflow: Archive,
}

// Make returns the plan.
func Make(q Question) *Plan {
	p := &Plan{Prune: q.Prune, Totals: map[Action]int{}, Objects: []Object{}, Diagnostics: append([]definitions.Diagnostic{}, q.Diagnostics...)}
	for _, kind := range definitions.Kinds() {
		p.addKind(q, kind)
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if hasError(o.Diagnostics) {
			o.Action = Invalid
		}
		p.Totals[o.Action]++
	}
	p.Applicable = p.Totals[Invalid] == 0 && !hasError(p.Diagnostics)
	return p
}

// Keys returns the keys of the objects of a kind with one of the actions, sorted.
func (p *Plan) Keys(kind definitions.Kind, actions ...Action) []string {
	var keys []string
	for _, o := range p.Objects {
		if o.Kind == kind && slices.Contains(actions, o.Action) {
			keys = append(keys, o.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Changed returns the objects that the plan changes.
func (p *Plan) Changed() []Object {
	changed := []Object{}
	for _, o := range p.Objects {
		switch o.Action {
		case Create, Update, Archive, Delete:
			changed = append(changed, o)
		}
	}
	return changed
}

// addKind adds the definitions of a kind: first those of the bundle, then those that are removed.
func (p *Plan) addKind(q Question, kind definitions.Kind) {
	held, wanted := contents(q.Held, kind), contents(q.Wanted, kind)
	keys := slices.Clone(wanted.keys)
	for ref := range q.Paths { // definitions that could not be read have a path only
		if _, read := wanted.by[ref.Key]; ref.Kind == kind && !read {
			keys = append(keys, ref.Key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		ref := definitions.Ref{Kind: kind, Key: key}
		o := Object{Kind: kind, Key: key, Path: q.Paths[ref], Action: Create, Diagnostics: append([]definitions.Diagnostic{}, q.Faults[ref]...)}
		if content, exists := held.by[key]; exists {
			o.Action = Update
			if content == wanted.by[key] {
				o.Action = Unchanged
				o.Diagnostics = warnings(o.Diagnostics)
			}
		}
		if q.FromGit[ref] && o.Action == Update {
			o.Diagnostics = append(o.Diagnostics, ownedByGit())
		}
		p.Objects = append(p.Objects, o)
	}
	if !q.Prune || !q.Wanted.Declared[kind] || removal[kind] == "" {
		return
	}
	for _, key := range held.keys {
		if !slices.Contains(keys, key) {
			p.Objects = append(p.Objects, q.removed(definitions.Ref{Kind: kind, Key: key}))
		}
	}
}

// warnings returns diagnostics as warnings: what is wrong with a definition that stays as it is, such as
// the draft of a workflow, prevents nothing.
func warnings(all []definitions.Diagnostic) []definitions.Diagnostic {
	for i := range all {
		all[i].Severity = definitions.Warning
	}
	return all
}

// removed returns what is done with a definition that the bundle does not have.
func (q Question) removed(ref definitions.Ref) Object {
	o := Object{Kind: ref.Kind, Key: ref.Key, Action: removal[ref.Kind], Diagnostics: []definitions.Diagnostic{}}
	if q.FromGit[ref] {
		o.Action, o.Diagnostics = Skip, append(o.Diagnostics, definitions.Diagnostic{
			Severity: definitions.Warning, Code: GitOwned, Message: "The repository of the organization defines it, so it stays. Remove it there.",
		})
		return o
	}
	if ref.Kind != definitions.KindAttribute || q.UsedBy == nil {
		return o
	}
	if users := q.UsedBy(q.remainingSegments(), ref.Key); len(users) > 0 {
		o.Action, o.Diagnostics = Skip, append(o.Diagnostics, definitions.Diagnostic{Severity: definitions.Warning, Code: ReferencedBy, Message: usedBy(users)})
	}
	return o
}

// remainingSegments returns the segments that the organization has after the plan.
func (q Question) remainingSegments() []definitions.Segment {
	remaining := slices.Clone(q.Wanted.Segments)
	pruned := q.Wanted.Declared[definitions.KindSegment] && q.Prune
	for _, held := range q.Held.Segments {
		stays := !pruned || q.FromGit[definitions.Ref{Kind: definitions.KindSegment, Key: held.Key}]
		if stays && !slices.ContainsFunc(q.Wanted.Segments, func(s definitions.Segment) bool { return s.Key == held.Key }) {
			remaining = append(remaining, held)
		}
	}
	return remaining
}

// definitionsOf are the definitions of a kind.
type definitionsOf struct {
	keys []string
	by   map[string]string
}

func contents(s *definitions.Set, kind definitions.Kind) definitionsOf {
	d := definitionsOf{by: map[string]string{}}
	for _, item := range s.Items(kind) {
		d.keys = append(d.keys, item.Key)
		d.by[item.Key] = item.Content
	}
	return d
}

func hasError(all []definitions.Diagnostic) bool {
	return slices.ContainsFunc(all, func(d definitions.Diagnostic) bool { return d.Severity == definitions.Error })
}
