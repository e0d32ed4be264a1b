package templates

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/sending"
)

// DeployEvery is the interval at which templates that are not in the sending accounts yet
// are deployed again. A saved version is deployed at once.
const DeployEvery = 15 * time.Minute

// The limits of one deployment of an organization, which exist for the reasons of maxRead.
const (
	maxDeployed = 200
	deployFor   = 4 * time.Minute
	// betweenCalls is the time between two calls about templates. SES allows one a second.
	betweenCalls = time.Second
)

// DeployArgs has the arguments of the job that deploys managed templates.
type DeployArgs struct {
	// OrgID is the organization whose templates to deploy; empty means all organizations.
	OrgID string `json:"org_id,omitempty"`
}

// Kind returns the name of the job that deploys managed templates.
func (DeployArgs) Kind() string { return "template_deploy" }

// MailSettings reads the settings with which mail is finished.
type MailSettings interface {
	// Of returns the settings of an organization, the defaults if it has changed none.
	Of(ctx context.Context, orgID string) (mailsettings.Settings, error)
}

// DeployWorker returns the job that puts the newest version of each managed template into
// the organization's sending account. It needs the field Settings of [Config].
func (t *Templates) DeployWorker() jobs.Worker[DeployArgs] {
	return jobs.Worker[DeployArgs]{Every: DeployEvery, Timeout: DeployEvery, Work: func(ctx context.Context, args DeployArgs) error {
		return jobs.ForEachOrg(ctx, args.OrgID, t.Orgs, "deployment", t.Deploy)
	}}
}

// enqueueDeployment enqueues the deployment of an organization's templates, in the
// transaction of the change that needs it.
func (t *Templates) enqueueDeployment(ctx context.Context, orgID string) error {
	if t.Queue == nil {
		return nil
	}
	return t.Queue.Enqueue(ctx, DeployArgs{OrgID: orgID})
}

// Deploy puts the newest version of each managed template of an organization into its
// account, if the account does not have it or if the mail settings have changed. The
// content is finished as [Finish] says. Each result is stored after its call, so an
// interrupted run loses nothing. At most maxDeployed templates are deployed in a run, one
// call a second. If a run for the organization is already working in this process, Deploy
// returns at once, and that run also deploys what is due now.
//
// A template that the account refuses keeps the failure, and Deploy continues with the next
// one. If the organization has no account, or one that stores no templates, all templates
// keep that failure, and Deploy returns nil: there is no call to retry. Any other failure
// ends Deploy.
func (t *Templates) Deploy(ctx context.Context, orgID string) error {
	if !t.deploying.begin(orgID) {
		return nil
	}
	ended := false
	defer func() {
		if !ended {
			t.deploying.end(orgID)
		}
	}()
	until := t.Clock().Add(deployFor)
	for !ended {
		if err := t.deployDue(ctx, orgID, until); err != nil {
			return err
		}
		ended = !t.deploying.again(orgID)
	}
	return nil
}

// deployDue deploys templates until none is due, each version at most once.
func (t *Templates) deployDue(ctx context.Context, orgID string, until time.Time) error {
	tried := map[string]int{} // the versions, by the template's id
	for n := 0; n < maxDeployed && t.Clock().Before(until); n++ {
		at := t.Clock() // before the settings are read, so that a later change is found to be later
		settings, err := t.Settings.Of(ctx, orgID)
		if err != nil {
			return err
		}
		due, err := t.Managed.Undeployed(ctx, orgID, settings.UpdatedAt, 1)
		if err != nil || len(due) == 0 || tried[due[0].ID] == due[0].Newest {
			return err
		}
		tried[due[0].ID] = due[0].Newest
		if n > 0 {
			if err := t.pause(ctx); err != nil {
				return err
			}
		}
		err = t.deploy(ctx, orgID, due[0], settings, at)
		if isWithoutTemplates(err) {
			return t.Managed.RefuseDeployments(ctx, orgID, settings.UpdatedAt, failureKind(err), t.Clock())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pause waits until the next call to the account is allowed.
func (t *Templates) pause(ctx context.Context) error {
	if t.Wait == nil {
		return nil
	}
	return t.Wait(ctx, betweenCalls)
}

// isWithoutTemplates reports whether a call failed because the organization has no account,
// or one that stores no templates.
func isWithoutTemplates(err error) bool {
	kind := failureKind(err)
	return kind == sending.NotConnected || kind == sending.Unsupported
}

// failureKind returns the kind of a failure of the account, "" for other errors and nil.
func failureKind(err error) sending.FailureKind {
	if f, ok := errors.AsType[*sending.Failure](err); ok {
		return f.Kind
	}
	return ""
}

// deploy deploys one template and stores the result with the time at. It returns the
// failures because of which the other templates cannot be deployed now either.
func (t *Templates) deploy(ctx context.Context, orgID string, u Undeployed, settings mailsettings.Settings, at time.Time) error {
	stored, err := t.Managed.ManagedBySlug(ctx, orgID, u.Slug)
	if core.IsNotFound(err) { // deleted since
		return nil
	}
	if err != nil {
		return err
	}
	content := Finish(stored.Newest.Content(), settings)
	content.Name = stored.DeployedName
	err = t.putTemplate(ctx, orgID, u, content)
	kind := failureKind(err)
	switch {
	case err == nil:
		return t.Managed.SaveDeployed(ctx, orgID, u, stored.Newest.Number, at)
	case kind == "" || isWithoutTemplates(err):
		return err
	}
	t.Log.WarnContext(ctx, "a template was not deployed", "org_id", orgID, "template", content.Name, "error", err)
	if failed := t.Managed.SaveDeployFailure(ctx, orgID, u.ID, kind, at); failed != nil {
		return errors.Join(err, failed)
	}
	if sending.IsRefusedObject(err) || kind == NameTaken {
		return nil
	}
	return err
}

// putTemplate puts the finished content into the account. Before the first time, it checks
// that the account has no template of this name, unless it has the same content, which an
// interrupted run has left. It does not call the account with content that has faults.
func (t *Templates) putTemplate(ctx context.Context, orgID string, u Undeployed, content sending.Template) error {
	if _, err := Compile(content); err != nil {
		return &sending.Failure{Kind: sending.Invalid, Err: err}
	}
	if !u.Claimed {
		existing, err := t.Account.Template(ctx, orgID, content.Name)
		switch {
		case err == nil && HashOf(existing) != HashOf(content):
			return &sending.Failure{Kind: NameTaken, Err: errors.New("the account has another template of this name")}
		case err != nil && !sending.IsNotFound(err):
			return err
		}
		if err := t.Managed.ClaimName(ctx, orgID, u.ID); err != nil {
			return err
		}
		if err := t.pause(ctx); err != nil {
			return err
		}
	}
	return t.Account.PutTemplate(ctx, orgID, content)
}

// forgetMissing makes the templates count as not deployed that the account does not list,
// for example because the organization has connected another account. deployed has the
// templates that were deployed before the account was listed. It then enqueues the
// deployment of all templates that are due.
func (t *Templates) forgetMissing(ctx context.Context, orgID string, listed map[string]sending.TemplateName, deployed map[string]time.Time) error {
	for name := range listed {
		delete(deployed, name)
	}
	if len(deployed) == 0 {
		return nil
	}
	if err := t.Managed.ForgetDeployed(ctx, orgID, deployed); err != nil {
		return err
	}
	return t.enqueueDeployment(ctx, orgID)
}
