package organization

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// productionPath is the path to which the form for production access is sent.
const productionPath = AccountPath + "/production-access"

// accountNotices are the messages that the page of the sending account shows after a
// change. The key of a message is its name in the query of the page's URL.
var accountNotices = frame.Notices{
	"asked":        "The request was sent to the provider. The decision usually takes one or two days. This page shows it.",
	"connected":    "The connection is stored, and the account is being read. To check it, choose Verify account.",
	"disconnected": "The sending account is disconnected, and its credentials are deleted.",
	"template":     "The version is recorded.",
}

// stepNames are the texts for the setup steps of a sending account.
var stepNames = map[string]string{
	"connect": "Connect the sending account", "validate_stack": "Check its infrastructure",
	"identity": "Verify a domain or address", "test_send": "Send a test message",
}

// stateWords are the texts for the states of setup steps.
var stateWords = map[string]string{
	string(account.StepPending): "to do", string(account.StepInProgress): "in progress", string(account.StepPassed): "done", string(account.StepFailed): "failed",
}

// requestWords are the texts for the states of a request for production access.
var requestWords = map[sending.AccessStatus]string{
	sending.AccessPending: "being sent to the provider", sending.AccessUnderReview: "under review at the provider", sending.AccessGranted: "granted",
	sending.AccessDenied: "denied", sending.AccessFailed: "failed or unanswered",
}

// accountPage is the data of the page of the sending account.
type accountPage struct {
	account.Standing
	// Used describes the used part of the daily quota. Pace is the maximum number of
	// messages per second.
	Used, Pace string

	Steps    []stepRow
	Syncs    []syncRow
	Request  string // the state of the latest request for production access; "" for none
	AskedAt  string
	Sees     bool // whether the visitor may see requests for production access
	MayAsk   bool
	Form     frame.Form
	Wanted   sending.ProductionRequest
	OldStack bool
	// Connection is nil if no account is connected or the visitor may not see the
	// connection.
	Connection *connectionView
	MayConnect bool
}

// stepRow is the data of a setup step on the page. Words is the text that the page shows
// for State.
type stepRow struct{ Name, State, Words, Detail string }

// syncNames are the texts for what a sync copies from the account.
var syncNames = map[sending.SyncKind]string{
	sending.ChannelSync: "Channels and identities", sending.TemplateSync: "Templates", sending.ContactSync: "Contacts and topics",
}

// syncRow is the data of the latest sync of one kind. Why and Next are "" if it succeeded.
type syncRow struct {
	Name, Why, Next string
	Ended           frame.When
	// Succeeded is the end of the latest successful sync.
	Succeeded frame.When
}

// syncRows returns the latest syncs with the account, none if no account is connected.
func (h accountHandlers) syncRows(r *http.Request, v people.Visitor, standing account.Standing) ([]syncRow, error) {
	if standing.AWS == nil && !standing.Unreachable {
		return nil, nil
	}
	results, err := h.Syncs.SyncResults(r.Context(), v.Org.ID)
	if err != nil {
		return nil, fmt.Errorf("syncs: %w", err)
	}
	var rows []syncRow
	for _, result := range results {
		row := syncRow{Name: syncNames[result.Kind], Ended: h.When(result.EndedAt)}
		if result.SucceededAt != nil {
			row.Succeeded = h.When(*result.SucceededAt)
		}
		if refusal := result.Refusal(); refusal != nil {
			row.Why, row.Next = refusal.Message, refusal.NextStep()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// showAccount shows the sending account and an empty form for production access.
func (h accountHandlers) showAccount(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.accountForm(w, r, v, http.StatusOK, sending.ProductionRequest{MailType: sending.Transactional}, "")
}

// accountForm writes the page of the sending account. wanted fills the form for production
// access, and problem is the error of the submitted form, or "".
func (h accountHandlers) accountForm(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, wanted sending.ProductionRequest, problem string) {
	standing, err := h.Account.Standing(r.Context(), v.Org)
	if err != nil {
		h.Fail(w, r, v, fmt.Errorf("sending account: %w", err))
		return
	}
	data := accountPage{
		Standing: standing, Sees: v.Member.Has(members.MayViewProduction), Form: frame.FormTo(v, productionPath), Wanted: wanted,
		OldStack: standing.CloudFormation != nil && !standing.CloudFormation.UpToDate,
	}
	if q := standing.SendQuota; q != nil {
		data.Used, data.Pace = usedOf(*q), limitText(q.MaxSendRate)
	}
	for _, s := range standing.Steps {
		data.Steps = append(data.Steps, stepRow{stepNames[s.Name], string(s.State), stateWords[string(s.State)], s.Detail})
	}
	if data.Syncs, err = h.syncRows(r, v, standing); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if data.MayConnect = v.Member.Has(members.MayManageOrg); data.MayConnect {
		c, ok := h.connectionOf(w, r, v)
		if !ok {
			return
		}
		if c != nil {
			data.Connection = h.viewConnection(*c, v)
		}
	}
	open := false
	if last := standing.Request; last != nil {
		data.Request, data.AskedAt, open = requestWords[last.Status], last.CreatedAt.UTC().Format(frame.DateLayout), last.Status.Open()
	}
	data.MayAsk = v.Member.Has(members.MaySubmitProduction) && standing.AWS != nil && standing.AWS.Sandbox && !open && !data.OldStack
	h.Show(w, r, v, status, frame.Screen{Page: "account", Title: "Sending account", Notice: accountNotices.NoticeOf(r), Problem: problem, Data: data})
}

// usedOf returns a text about the used part of the daily quota. A maximum of 0 means no
// limit.
func usedOf(q account.SendQuota) string {
	if q.Max24Hour == 0 {
		return core.WithCommas(q.SentLast24Hour) + " messages; there is no daily limit"
	}
	return core.WithCommas(q.SentLast24Hour) + " of " + core.WithCommas(q.Max24Hour) + " messages"
}

// limitText returns a limit as text. 0 means no limit.
func limitText(limit int64) string {
	if limit == 0 {
		return "no limit"
	}
	return core.WithCommas(limit)
}

// requestProductionAccess sends a request for production access to the provider and
// redirects to the page of the account. A refused form is shown again with its values.
func (h accountHandlers) requestProductionAccess(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	wanted := sending.ProductionRequest{
		MailType: sending.MailType(r.PostForm.Get("mail_type")), Website: r.PostForm.Get("website"), UseCase: r.PostForm.Get("use_case"),
	}
	made, err := h.Account.RequestProductionAccess(r.Context(), h.TransactorWith(v, members.MaySubmitProduction), v.Org.ID, wanted)
	if made.ID != "" { // the audit log also records a request that the provider refused
		detail := map[string]any{"mail_type": made.MailType, "website": made.Website, "status": made.Status}
		if err := h.Record(context.WithoutCancel(r.Context()), v, "production_access.requested", made.ID, detail); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	switch e := core.AsError(err); {
	case err == nil:
		frame.RedirectWithNotice(w, AccountPath, "asked")
	case e.Code == core.CodeInvalidScope:
		h.Fail(w, r, v, err)
	case e.HTTPStatus() < http.StatusInternalServerError || e.Code == core.CodeUpstreamUnavailable:
		h.accountForm(w, r, v, e.HTTPStatus(), wanted, requestProblem(e))
	default:
		h.Fail(w, r, v, err)
	}
}

// productionLabels are the names of the fields in the refusals of the form for production
// access.
var productionLabels = frame.Labels{"mail_type": "The kind of mail", "website": "The website", "use_case": "The description of the use"}

// requestProblem returns the text to show above the refused form for production access.
func requestProblem(e *core.Error) string {
	if problem := productionLabels.Problem(e); problem != "" {
		return problem
	}
	return e.Message + " " + e.NextStep()
}
