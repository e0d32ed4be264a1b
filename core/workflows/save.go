package workflows

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Definition is a source to save.
type Definition struct {
	// WorkflowID is the id of the workflow that it changes, or "". Otherwise Key is the key of
	// the workflow, which is created if there is none. If both are "", a new workflow gets a
	// key that is made from its name.
	WorkflowID, Key string
	Source          string
	// BaseHash is the content hash of the version that the author read and changed, "" for a
	// new workflow. nil replaces any version.
	BaseHash *string
	Author   Author
	// Origin is "" for Managed. SourcePath and SourceURL are those of the file in the
	// repository.
	Origin                Origin
	SourcePath, SourceURL string
	// Revives lets the source of an archived workflow be saved: it becomes a draft again, or, if it
	// was ever active, a paused workflow.
	Revives bool
	// Broken is why a new workflow cannot be activated, "" if it can. It is then [Invalid].
	Broken string
}

// Saved is the result of saving a source.
type Saved struct {
	Workflow Workflow
	// Version is the draft, or the version that has the source already.
	Version Version
	// Review says whether the draft can be activated.
	Review Review
	// Created is true for a new workflow. Changed is false if the newest version has the source
	// already.
	Created, Changed bool
}

// Limits of workflows.
const (
	maxKey = 64
	// maxWorkflows is the maximum number of workflows of an organization that are not archived.
	maxWorkflows = 500
	// untitled is the name of a new workflow whose source has none.
	untitled = "Untitled workflow"
)

var (
	keyForm  = regexp.MustCompile(`^[a-z0-9]+(?:[-_][a-z0-9]+)*$`)
	notInKey = regexp.MustCompile(`[^a-z0-9]+`)
	// nameForm finds the name in a source that does not parse.
	nameForm = regexp.MustCompile(`^\s*workflow\s+"([^"\\\n]{1,200})"`)
)

// Save stores a source as the draft of a workflow, with or without faults. The draft reaches no
// contact before it is activated. Save fails with core.CodeNotFound for an unknown WorkflowID,
// and with core.CodeConflict if BaseHash is not the hash of the newest version, if the workflow
// is archived, or if a repository defines it and Origin is not FromGit.
func (e *Editor) Save(ctx context.Context, orgID string, d Definition) (Saved, error) {
	return e.save(ctx, &core.Call{Surface: core.Dashboard}, orgID, d)
}

// save is Save; the surface of the call decides on the code of a stale hash.
func (e *Editor) save(ctx context.Context, c *core.Call, orgID string, d Definition) (Saved, error) {
	if d.Key != "" {
		if err := CheckKey(d.Key); err != nil {
			return Saved{}, err
		}
	}
	if err := CheckSize(d.Source); err != nil {
		return Saved{}, err
	}
	var saved Saved
	err := e.Transactor.InTx(ctx, func(ctx context.Context) error {
		review, err := e.Review(ctx, orgID, d.Source)
		if err != nil {
			return err
		}
		found, isNew, err := e.target(ctx, orgID, d)
		if err != nil {
			return err
		}
		if isNew {
			saved, err = e.create(ctx, c, orgID, d)
		} else {
			saved, err = e.replace(ctx, c, orgID, found, d)
		}
		saved.Review = review
		return err
	})
	return saved, err
}

// CheckKey fails with core.CodeValidationFailed for a text that cannot be the key of a workflow.
func CheckKey(key string) error {
	if len(key) > maxKey || !keyForm.MatchString(key) {
		return core.Invalid("key", "must be lower-case letters and digits, with single - or _ between them, at most 64 in all")
	}
	return nil
}

// CheckSize fails with core.CodeValidationFailed for a source that is too long.
func CheckSize(source string) error {
	if len(source) > language.MaxSource {
		return core.Invalid("source", fmt.Sprintf("has %d bytes; at most %d are allowed", len(source), language.MaxSource))
	}
	return nil
}

// target returns the workflow that a draft changes, and whether it is to be created.
func (e *Editor) target(ctx context.Context, orgID string, d Definition) (found Workflow, isNew bool, err error) {
	switch {
	case d.WorkflowID != "":
		found, err = e.Store.Workflow(ctx, orgID, d.WorkflowID)
		return found, false, err
	case d.Key == "":
		return Workflow{}, true, nil
	}
	found, err = e.Store.Workflow(ctx, orgID, d.Key)
	if core.IsNotFound(err) {
		return Workflow{}, true, nil
	}
	return found, false, err
}

// create stores a new workflow with its first draft.
func (e *Editor) create(ctx context.Context, c *core.Call, orgID string, d Definition) (Saved, error) {
	if d.BaseHash != nil && *d.BaseHash != "" {
		return Saved{}, core.StaleContentHash(c, "The workflow does not exist, so no content has the hash "+core.Quote(*d.BaseHash)+".",
			"Correct the key, or leave `base_content_hash` out to create the workflow.", *d.BaseHash, "")
	}
	if err := e.checkCount(ctx, orgID); err != nil {
		return Saved{}, err
	}
	now := e.Clock()
	w := Workflow{
		ID: core.NewID(), Key: d.Key, Name: nameOf(d.Source, untitled), Status: Draft, DraftVersion: 1, Origin: Managed, RequireApproval: true,
		CreatedAt: now, UpdatedAt: now,
	}
	if d.Origin != "" {
		w.Origin, w.SourcePath, w.SourceURL = d.Origin, d.SourcePath, d.SourceURL
	}
	if d.Broken != "" {
		w.Status, w.StatusBefore, w.InvalidReason = Invalid, Draft, d.Broken
	}
	if w.Key == "" {
		var err error
		if w.Key, err = e.freeKey(ctx, orgID, w.Name); err != nil {
			return Saved{}, err
		}
	}
	v := versionOf(d, 1, now)
	if err := e.Store.Insert(ctx, orgID, w); err != nil {
		return Saved{}, err
	}
	return Saved{Workflow: w, Version: v, Created: true, Changed: true}, e.Store.SaveVersion(ctx, orgID, w.ID, v)
}

// replace stores the source as the draft of a workflow, unless its newest version has it.
func (e *Editor) replace(ctx context.Context, c *core.Call, orgID string, w Workflow, d Definition) (Saved, error) {
	if err := checkOrigin(w, d); err != nil {
		return Saved{}, err
	}
	newest, err := e.Store.Version(ctx, orgID, w.ID, w.Latest())
	if err != nil {
		return Saved{}, err
	}
	before := w
	w = d.restate(w)
	if newest.Source == d.Source {
		if w.Status == before.Status {
			return Saved{Workflow: w, Version: newest}, nil
		}
		w.UpdatedAt = e.Clock()
		return Saved{Workflow: w, Version: newest, Changed: true}, e.Store.Update(ctx, orgID, w)
	}
	if d.BaseHash != nil && *d.BaseHash != newest.ContentHash {
		return Saved{}, staleBase(c, w, newest, *d.BaseHash)
	}
	now := e.Clock()
	v := versionOf(d, w.CurrentVersion+1, now)
	w.DraftVersion, w.UpdatedAt = v.Number, now
	if w.CurrentVersion == 0 || d.Origin == FromGit {
		w.Name = nameOf(d.Source, w.Name)
	}
	if d.Origin != "" {
		w.Origin, w.SourcePath, w.SourceURL = d.Origin, d.SourcePath, d.SourceURL
	}
	if err := e.Store.SaveVersion(ctx, orgID, w.ID, v); err != nil {
		return Saved{}, err
	}
	return Saved{Workflow: w, Version: v, Changed: true}, e.Store.Update(ctx, orgID, w)
}

// restate returns the workflow with the status that it has after the definition is saved.
func (d Definition) restate(w Workflow) Workflow {
	switch {
	case w.Status == Archived && w.CurrentVersion > 0:
		w.Status = Paused
	case w.Status == Archived:
		w.Status = Draft
	case w.Status == Invalid && w.CurrentVersion == 0 && d.Broken == "":
		w.Status, w.StatusBefore, w.InvalidReason = Draft, "", ""
	}
	return w
}

// checkOrigin refuses to change an archived workflow, and one that a repository defines.
func checkOrigin(w Workflow, d Definition) error {
	switch {
	case w.Status == Archived && d.Revives && w.Closing:
		return core.Conflict("The workflow "+core.Quote(w.Key)+" is archived, and its journeys are being ended.", "Try again in a minute.")
	case w.Status == Archived && !d.Revives:
		return refuseStatus(w, "changed")
	case w.Origin == FromGit && d.Origin != FromGit:
		return core.Conflict("A repository defines the workflow "+core.Quote(w.Name)+".", "Change it in the repository.")
	}
	return nil
}

// staleBase refuses a change of a version that is not the newest one.
func staleBase(c *core.Call, w Workflow, newest Version, base string) error {
	what := "`base_content_hash` is " + core.Quote(base)
	if base == "" {
		what = "`base_content_hash` is absent"
	}
	return core.StaleContentHash(c,
		fmt.Sprintf("The workflow %s has version %d with the content hash %s, and %s.", core.Quote(w.Key), newest.Number, core.Quote(newest.ContentHash), what),
		"Read the workflow again, apply your change to its present source, and send that source's hash as `base_content_hash`.", base, newest.ContentHash)
}

func versionOf(d Definition, number int, now time.Time) Version {
	return Version{Number: number, Source: d.Source, ContentHash: HashOf(d.Source), CreatedAt: now, CreatedBy: d.Author}
}

// nameOf returns the name in a source, or the other name if it has none.
func nameOf(source, otherwise string) string {
	if tree, err := language.Parse(source); err == nil {
		return tree.Name
	}
	if found := nameForm.FindStringSubmatch(source); found != nil && otherwise == untitled {
		return found[1]
	}
	return otherwise
}

// checkCount refuses to create more workflows than an organization may have.
func (e *Editor) checkCount(ctx context.Context, orgID string) error {
	all, err := e.Store.Count(ctx, orgID, Filter{})
	if err != nil {
		return err
	}
	archived, err := e.Store.Count(ctx, orgID, Filter{Status: Archived})
	if err == nil && all-archived >= maxWorkflows {
		return core.Conflict(fmt.Sprintf("The organization has %d workflows, and more are not allowed.", all-archived), "Archive workflows that are no longer needed.")
	}
	return err
}

// freeKey returns a key for a new workflow that no other workflow has.
func (e *Editor) freeKey(ctx context.Context, orgID, name string) (string, error) {
	base := strings.Trim(notInKey.ReplaceAllString(strings.ToLower(name), "-"), "-")
	base = strings.Trim(base[:min(len(base), maxKey-len("-500"))], "-")
	if base == "" {
		base = "workflow"
	}
	for n := 1; ; n++ {
		key := base
		if n > 1 {
			key = fmt.Sprintf("%s-%d", base, n)
		}
		_, err := e.Store.Workflow(ctx, orgID, key)
		if core.IsNotFound(err) {
			return key, nil
		}
		if err != nil {
			return "", err
		}
	}
}
