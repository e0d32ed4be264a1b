package bundles

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
)

// Revision is what files of a repository are read from. Commit is the id of the commit in hexadecimal
// digits. URL is the address below which a browser shows the files, without "/" at its end, "" if there is
// none.
type Revision struct{ Branch, Commit, URL string }

// Synced is what [Bundles.Sync] did. Changed is the number of definitions that were created, changed or
// archived. Absent are the adopted definitions that the files do not name, sorted.
type Synced struct {
	Diagnostics []definitions.Diagnostic
	Changed     int
	Absent      []definitions.Ref
}

// Adopted is the code of the warning about a definition that the files name and a sync leaves out.
const Adopted = "adopted"

// Sync makes the definitions that the repository of an organization defines those of its files. Unlike an
// import, it applies what is valid: a segment or a workflow with an error in its source is stored as
// invalid, a template with an error keeps its content and is invalid, and other definitions with errors
// stay as they are. A definition that the repository defined before, and does not any more, is archived;
// attributes, activity properties and templates, which cannot be archived, become managed and stay.
// Nothing is archived or managed again if a section cannot be read. An adopted definition stays as it is,
// with a warning if the files name it; other definitions may refer to it. Sync may be repeated, and an
// error means that not everything was applied.
func (b *Bundles) Sync(ctx context.Context, org core.Org, tree archive.Tree, at Revision, adopted map[definitions.Ref]bool) (Synced, error) {
	files := manifest.Read(tree)
	a := &application{Bundles: b, Adapters: b.NewAdapters(), org: org, files: files, origin: core.GitOrigin, at: at, adopted: adopted}
	absent := a.leaveOutAdopted()
	if len(files.Set.Declared) == 0 && files.HasErrors() {
		return Synced{Diagnostics: files.Diagnostics}, nil
	}
	held, err := b.read(ctx, org.ID, a.known())
	if err != nil {
		return Synced{}, err
	}
	a.held = held
	a.dropped = a.findDropped()
	a.change = definitions.Change{Wanted: &files.Set, Removed: map[definitions.Ref]bool{}, Keys: keysOf(files.Paths)}
	for _, ref := range a.dropped {
		if canArchive(ref.Kind) {
			a.change.Removed[ref] = true
		}
	}
	a.question = plan.Question{
		Held: &held.Set, Wanted: &files.Set, Paths: files.Paths, Faults: maps.Clone(files.Faults),
		Diagnostics: append(slices.Clone(files.Diagnostics), a.unused()...),
	}
	if err := a.check(ctx); err != nil {
		return Synced{}, err
	}
	a.plan = plan.Make(a.question)
	err = a.sync(ctx)
	return Synced{Diagnostics: a.diagnostics(), Changed: len(a.done), Absent: absent}, err
}

// leaveOutAdopted removes the adopted definitions from the files, with a warning about each. It returns
// those that the files do not name, none if a section cannot be read.
func (a *application) leaveOutAdopted() []definitions.Ref {
	var absent []definitions.Ref
	inOrder := func(x, y definitions.Ref) int { return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Key, y.Key)) }
	isReadable := !a.hasUnreadableSection()
	for _, ref := range slices.SortedFunc(maps.Keys(a.adopted), inOrder) {
		if _, named := a.files.Paths[ref]; !named {
			if isReadable {
				absent = append(absent, ref)
			}
			continue
		}
		at := a.files.Places[ref]
		a.files.Diagnostics = append(a.files.Diagnostics, definitions.Diagnostic{
			Severity: definitions.Warning, Code: Adopted, Path: archive.ManifestPath, Line: at.Line, Column: at.Column,
			Message: "The " + ref.Kind.Noun() + " " + core.Quote(ref.Key) + " was adopted, so this entry and its file have no effect. Return it to the repository on the page Repository, or remove the entry.",
		})
	}
	a.files.Without(a.adopted)
	return absent
}

// hasUnreadableSection reports whether the files may name definitions that were not read.
func (a *application) hasUnreadableSection() bool {
	return slices.ContainsFunc(a.files.Diagnostics, func(d definitions.Diagnostic) bool { return d.Severity == definitions.Error })
}

// known returns the kinds that have a subject.
func (a *application) known() []definitions.Kind {
	return slices.DeleteFunc(definitions.Kinds(), func(kind definitions.Kind) bool { return a.Subjects[kind] == nil })
}

// canArchive reports whether definitions of a kind can be archived. Others stay when a repository drops
// them.
func canArchive(kind definitions.Kind) bool {
	switch kind {
	case definitions.KindAttribute, definitions.KindActivityProperty, definitions.KindTemplate:
		return false
	default:
		return true
	}
}

// findDropped returns the definitions that the repository defined before and does not any more.
func (a *application) findDropped() []definitions.Ref {
	if a.hasUnreadableSection() {
		return nil
	}
	var gone []definitions.Ref
	for ref := range a.held.FromGit {
		if _, defined := a.files.Paths[ref]; !defined && !a.adopted[ref] {
			gone = append(gone, ref)
		}
	}
	return gone
}

// sync applies what can be applied, one kind after the other. What a subject refuses is a diagnostic.
func (a *application) sync(ctx context.Context) error {
	for _, kind := range a.known() {
		w := a.syncWork(kind)
		if len(w.Save)+len(w.Remove) > 0 {
			err := a.Subjects[kind].Apply(ctx, a.org, w, func(ctx context.Context) error { return a.finish(ctx, kind, w) })
			if err != nil {
				refusal := core.AsError(err)
				if refusal.HTTPStatus() >= 500 {
					return err
				}
				a.plan.Diagnostics = append(a.plan.Diagnostics, definitions.Diagnostic{
					Severity: definitions.Error, Code: string(refusal.Code), Message: refusal.Message + " " + refusal.NextStep(), Path: archive.ManifestPath,
				})
				continue
			}
			a.done = append(a.done, a.changed(kind, w)...)
		}
		if err := a.own(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// own says which definitions of a kind the repository defines although their content did not change, where
// their files are, and which it does not define any more.
func (a *application) own(ctx context.Context, kind definitions.Kind) error {
	var taken, released []string
	w := a.work(kind)
	for _, key := range a.plan.Keys(kind, plan.Unchanged) {
		ref := definitions.Ref{Kind: kind, Key: key}
		if !a.held.FromGit[ref] {
			taken = append(taken, key)
		}
		held, stored := a.held.Sources[ref]
		// The address of an earlier commit shows the same content, so it stays.
		if next := w.SourceOf(key); stored && (held.Path != next.Path || held.URL == "" && next.URL != "") {
			if err := a.Store.SetSource(ctx, a.org.ID, ref, next); err != nil {
				return err
			}
		}
	}
	for _, ref := range a.dropped {
		if ref.Kind == kind && !canArchive(kind) {
			released = append(released, ref.Key)
		}
	}
	if err := a.Store.SetOrigins(ctx, a.org.ID, kind, taken, Owner{core.GitOrigin, a.at.Commit}); err != nil {
		return err
	}
	return a.Store.SetOrigins(ctx, a.org.ID, kind, released, Owner{Origin: core.ManagedOrigin})
}

// syncWork returns what a sync does with the definitions of a kind.
func (a *application) syncWork(kind definitions.Kind) definitions.Work {
	w := a.work(kind)
	w.Broken = map[string][]string{}
	for _, o := range a.plan.Objects {
		if o.Kind != kind {
			continue
		}
		switch reasons := a.reasons(o); {
		case len(reasons) > 0:
			w.Broken[o.Key] = reasons
			w.Save = append(w.Save, o.Key)
		case o.Action == plan.Unchanged && len(a.held.Broken[definitions.Ref{Kind: kind, Key: o.Key}]) > 0: // its files are valid again
			w.Save = append(w.Save, o.Key)
		}
	}
	slices.Sort(w.Save)
	for ref := range a.change.Removed {
		if ref.Kind == kind {
			w.Remove = append(w.Remove, ref.Key)
		}
	}
	slices.Sort(w.Remove)
	return w
}

// maxReasons is the maximum number of stored reasons why a template is invalid.
const maxReasons = 20

// reasons returns why a definition with errors is to be stored as invalid. It returns none for other
// definitions, for those whose errors keep them from being stored, and if the reasons are stored already.
func (a *application) reasons(o plan.Object) []string {
	if o.Action != plan.Invalid {
		return nil
	}
	switch o.Kind {
	case definitions.KindSegment, definitions.KindWorkflow:
		if at := slices.IndexFunc(o.Diagnostics, isFaultOfSource); at >= 0 && a.isReadable(o) {
			return []string{o.Diagnostics[at].Message}
		}
	case definitions.KindTemplate:
		var all []string
		for _, d := range o.Diagnostics {
			if d.Severity == definitions.Error && d.Part == definitions.PartKey {
				return nil
			}
			if d.Severity == definitions.Error && len(all) < maxReasons {
				all = append(all, d.Sentence())
			}
		}
		ref := definitions.Ref{Kind: o.Kind, Key: o.Key}
		if !a.held.FromGit[ref] || !slices.Equal(all, a.held.Broken[ref]) {
			return all
		}
	}
	return nil
}

// isReadable reports whether the definition of an object could be read from its file.
func (a *application) isReadable(o plan.Object) bool {
	return slices.ContainsFunc(a.files.Set.Items(o.Kind), func(i definitions.Item) bool { return i.Key == o.Key })
}

// isFaultOfSource reports whether a diagnostic is an error at a place of a source. Other errors, such as
// those about keys, keep a definition from being stored at all.
func isFaultOfSource(d definitions.Diagnostic) bool {
	return d.Severity == definitions.Error && d.Line > 0
}

// diagnostics returns what is wrong with the files. An error of a definition that is stored as invalid is
// one at each sync, although the definition has not changed since the first.
func (a *application) diagnostics() []definitions.Diagnostic {
	all := slices.Clone(a.plan.Diagnostics)
	for _, o := range a.plan.Objects {
		if o.Action == plan.Unchanged {
			o.Diagnostics = a.question.Faults[definitions.Ref{Kind: o.Kind, Key: o.Key}]
		}
		all = append(all, o.Diagnostics...)
	}
	return all
}
