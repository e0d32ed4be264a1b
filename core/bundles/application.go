package bundles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
)

// application is one comparison of a bundle with the definitions of an organization, and the changes
// that follow from it.
type application struct {
	*Bundles
	Adapters
	org    core.Org
	files  *manifest.Result
	prune  bool
	origin core.Origin
	// call is the call that applies the bundle, nil for a sync, and at what a sync reads.
	call *core.Call
	at   Revision
	// adopted has the definitions that a sync leaves as they are.
	adopted map[definitions.Ref]bool

	held *Held
	// dropped has the definitions that the repository does not define any more.
	dropped  []definitions.Ref
	question plan.Question
	change   definitions.Change
	plan     *plan.Plan

	// done has the changed objects, and last the last kind that is wholly applied.
	done []plan.Object
	last definitions.Kind
}

// maxUnused is the number of files without a use that a plan names.
const maxUnused = 20

// makePlan compares the bundle with the organization.
func (a *application) makePlan(ctx context.Context) error {
	var err error
	if a.held, err = a.read(ctx, a.org.ID, a.compared()); err != nil {
		return err
	}
	a.question = plan.Question{
		Held: &a.held.Set, Wanted: &a.files.Set, Paths: a.files.Paths, Faults: maps.Clone(a.files.Faults),
		Diagnostics: append(slices.Clone(a.files.Diagnostics), a.unused()...), Prune: a.prune, FromGit: a.held.FromGit,
	}
	if a.prune && a.files.Set.Declared[definitions.KindAttribute] {
		if a.question.UsedBy, err = a.UsedBy(ctx, a.org.ID, &a.files.Set); err != nil {
			return err
		}
	}
	a.change = definitions.Change{Wanted: &a.files.Set, Removed: map[definitions.Ref]bool{}, Keys: keysOf(a.files.Paths)}
	for _, o := range plan.Make(a.question).Objects {
		if o.Action == plan.Archive || o.Action == plan.Delete {
			a.change.Removed[definitions.Ref{Kind: o.Kind, Key: o.Key}] = true
		}
	}
	if err := a.check(ctx); err != nil {
		return err
	}
	a.plan = plan.Make(a.question)
	return nil
}

// keysOf returns the keys of definitions by their kinds, sorted.
func keysOf(paths map[definitions.Ref]string) map[definitions.Kind][]string {
	keys := map[definitions.Kind][]string{}
	for ref := range paths {
		keys[ref.Kind] = append(keys[ref.Kind], ref.Key)
	}
	for _, all := range keys {
		slices.Sort(all)
	}
	return keys
}

// compared returns the kinds that the plan compares: those of the bundle, and segments, which may test
// attributes.
func (a *application) compared() []definitions.Kind {
	return slices.DeleteFunc(definitions.Kinds(), func(kind definitions.Kind) bool {
		return a.Subjects[kind] == nil || !a.files.Set.Declared[kind] && kind != definitions.KindSegment
	})
}

// unused returns warnings about files that the manifest does not name.
func (a *application) unused() []definitions.Diagnostic {
	var all []definitions.Diagnostic
	for i, path := range a.files.Unused {
		if i == maxUnused {
			return append(all, definitions.Diagnostic{
				Severity: definitions.Warning, Code: manifest.UnusedFile, Message: fmt.Sprintf("%d more files are not named by the manifest.", len(a.files.Unused)-i),
			})
		}
		all = append(all, definitions.Diagnostic{
			Severity: definitions.Warning, Code: manifest.UnusedFile, Message: "The manifest does not name the file, so it has no effect.", Path: path,
		})
	}
	return all
}

// check lets the subjects check the definitions of the bundle, and adds what they find to the question.
func (a *application) check(ctx context.Context) error {
	for _, kind := range definitions.Kinds() {
		if !a.files.Set.Declared[kind] {
			continue
		}
		if a.Subjects[kind] == nil {
			a.question.Diagnostics = append(a.question.Diagnostics, definitions.Diagnostic{
				Severity: definitions.Error, Code: manifest.InvalidValue, Message: "Definitions of the section " + core.Quote(string(kind.Section())) + " cannot be imported.", Path: archive.ManifestPath,
			})
			continue
		}
		faults, err := a.Subjects[kind].Check(ctx, a.org, a.change)
		if err != nil {
			return err
		}
		for key, all := range faults {
			ref := definitions.Ref{Kind: kind, Key: key}
			for _, d := range all {
				a.question.Faults[ref] = append(a.question.Faults[ref], a.located(ref, d))
			}
		}
	}
	return nil
}

// located returns a diagnostic about a definition with the path of the file that it is about.
func (a *application) located(ref definitions.Ref, d definitions.Diagnostic) definitions.Diagnostic {
	switch {
	case d.Path != "":
		return d
	case d.Part == definitions.PartText:
		d.Path = a.files.Texts[ref.Key]
	case d.Part == "":
		d.Path = a.files.Paths[ref]
	}
	if d.Path == "" {
		d.Path, d.Line, d.Column = archive.ManifestPath, 0, 0
	}
	return d
}

// apply does what the plan says, one kind after the other.
func (a *application) apply(ctx context.Context) error {
	for _, kind := range definitions.Kinds() {
		w := a.work(kind)
		if len(w.Save)+len(w.Remove) > 0 {
			if err := a.checkUnchanged(ctx, kind); err != nil {
				return err
			}
			if err := a.Subjects[kind].Apply(ctx, a.org, w, func(ctx context.Context) error { return a.finish(ctx, kind, w) }); err != nil {
				return err
			}
			a.done = append(a.done, a.changed(kind, w)...)
		}
		a.last = kind
	}
	return nil
}

// work returns what is to be done with the definitions of a kind.
func (a *application) work(kind definitions.Kind) definitions.Work {
	w := definitions.Work{
		Change: a.change, Save: a.plan.Keys(kind, plan.Create, plan.Update), Remove: a.plan.Keys(kind, plan.Archive, plan.Delete),
		Origin: a.origin, Author: a.author(), Branch: a.at.Branch, FilesURL: a.at.URL, Paths: map[string]string{},
	}
	for ref, path := range a.files.Paths {
		if ref.Kind == kind {
			w.Paths[ref.Key] = path
		}
	}
	return w
}

// action returns the action of the audit log.
func (a *application) action() string {
	if a.call == nil {
		return "repository_synced"
	}
	return "bundles_import"
}

// author returns who applies the bundle.
func (a *application) author() definitions.Author {
	if a.call == nil {
		system := access.System()
		return definitions.Author{Kind: system.Kind, ID: system.ID}
	}
	p := a.call.Principal
	return definitions.Author{Kind: string(p.Credential.Kind), ID: p.Credential.ID, UserID: p.UserID}
}

// checkUnchanged fails with core.CodeConflict if the definitions of a kind are not those of the plan
// any more.
func (a *application) checkUnchanged(ctx context.Context, kind definitions.Kind) error {
	now, err := a.read(ctx, a.org.ID, []definitions.Kind{kind})
	if err != nil {
		return err
	}
	if !slices.Equal(now.Set.Items(kind), a.held.Set.Items(kind)) {
		return core.Conflict("The "+kind.Noun()+" definitions have changed since the plan was made.", "Import the bundle again.")
	}
	return nil
}

// finish ends the transaction of a kind: it stores the origin of the definitions and a line of the audit
// log.
func (a *application) finish(ctx context.Context, kind definitions.Kind, w definitions.Work) error {
	if a.origin != core.ManagedOrigin {
		if err := a.setOrigins(ctx, kind, w); err != nil {
			return err
		}
	}
	detail := auditDetail{Kind: kind, Objects: map[plan.Action]int{}}
	for _, o := range a.changed(kind, w) {
		detail.Objects[o.Action]++
	}
	encoded, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	line := access.AuditEvent{ID: core.NewID(), OrgID: a.org.ID, OccurredAt: a.Clock(), Action: a.action(), Detail: string(encoded)}
	author := a.author()
	line.ActorKind, line.ActorID = author.Kind, author.ID
	if a.call != nil {
		line.Surface, line.RequestID = a.call.Surface, a.call.RequestID
	}
	return a.Audit.AppendAudit(ctx, line)
}

// setOrigins stores that the repository defines the saved definitions. The contents of broken ones may
// come from an earlier commit.
func (a *application) setOrigins(ctx context.Context, kind definitions.Kind, w definitions.Work) error {
	whole := slices.DeleteFunc(slices.Clone(w.Save), func(key string) bool { return w.Reason(key) != "" })
	broken := slices.DeleteFunc(slices.Clone(w.Save), func(key string) bool { return w.Reason(key) == "" })
	return errors.Join(
		a.Store.SetOrigins(ctx, a.org.ID, kind, whole, Owner{a.origin, a.at.Commit}),
		a.Store.SetOrigins(ctx, a.org.ID, kind, broken, Owner{Origin: a.origin}),
	)
}

// changed returns the objects of a kind that the work changes.
func (a *application) changed(kind definitions.Kind, w definitions.Work) []plan.Object {
	var all []plan.Object
	for _, o := range a.plan.Objects {
		if o.Kind == kind && (slices.Contains(w.Save, o.Key) || slices.Contains(w.Remove, o.Key)) {
			all = append(all, o)
		}
	}
	return all
}
