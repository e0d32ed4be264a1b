package broadcasts

import (
	"context"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// notice is a message about a broadcast that stands above its facts, with the next step. The
// path of the link is "" for none.
type notice struct {
	Heading, Text string
	Link          frame.Link
	// Did says what happened at the time At, such as "Asked".
	Did string
	At  frame.When
}

// noticesOf returns what a person should know about a broadcast before all else.
func (h *Room) noticesOf(ctx context.Context, v people.Visitor, b broadcasts.Broadcast) ([]notice, error) {
	var all []notice
	if b.State == broadcasts.Draft || b.State == broadcasts.Scheduled {
		latest, err := h.Approvals.Latest(ctx, v.Org.ID, []string{b.ID})
		if err != nil {
			return nil, err
		}
		if a, asked := latest[b.ID]; asked && approvalHeadings[a.Status] != "" {
			all = append(all, h.approvalNotice(a))
		}
	}
	if b.Paused != nil && !b.State.IsOver() {
		n := pauseNotice(*b.Paused)
		n.Did, n.At = "Since", h.When(b.Paused.Since)
		all = append(all, n)
	}
	for i := range all {
		if !h.MayOpen(v, all[i].Link.Path) {
			all[i].Link = frame.Link{}
		}
	}
	return all, nil
}

// approvalHeadings say how the approval of a send that has not begun stands. An approved send
// needs no notice.
var approvalHeadings = map[string]string{
	broadcasts.ApprovalPending:  "A person must approve this send",
	broadcasts.ApprovalRejected: "A person rejected this send",
	broadcasts.ApprovalVoided:   "The approval that was asked for is void",
	broadcasts.ApprovalExpired:  "No person approved this send in time",
}

// approvalNotice says how the approval of a send stands, and what to do.
func (h *Room) approvalNotice(a broadcasts.Approval) notice {
	n := notice{Heading: approvalHeadings[a.Status], Link: frame.Link{Path: approvalsPath, Name: "View the approvals"}}
	if at, err := url.Parse(a.URL); err == nil && strings.HasPrefix(at.Path, approvalsPath+"/") {
		n.Link = frame.Link{Path: at.Path, Name: "View the approval"}
	}
	if a.Status == broadcasts.ApprovalPending {
		begin := "at once"
		if a.ScheduledAt != nil {
			begin = "at " + a.ScheduledAt.UTC().Format(frame.MomentLayout)
		}
		n.Text = "Nothing is sent until then. The send is to begin " + begin + ". Without a decision, the question ends at " + a.ExpiresAt.UTC().Format(frame.MomentLayout) + ". An edit of the broadcast voids it."
		n.Did, n.At = "Asked", h.When(a.RequestedAt)
		return n
	}
	n.Text = "Nothing was sent."
	if a.Reason != nil {
		n.Text += " Reason: " + frame.Quoted(*a.Reason) + "."
	}
	if a.DecidedAt != nil {
		n.Did, n.At = "Decided", h.When(*a.DecidedAt)
	}
	return n
}

// pauseNotice says why a broadcast waits, and how the pause ends.
func pauseNotice(p broadcasts.Pause) notice {
	resumes := ""
	if p.ResumesAt != nil {
		resumes = " It goes on by itself at " + p.ResumesAt.UTC().Format(frame.MomentLayout) + "."
	}
	switch p.Reason {
	case broadcasts.PausedByPerson:
		return notice{Heading: "A person paused the broadcast", Text: "Messages that were being passed to the account still leave. Nothing more is sent until a person resumes it."}
	case broadcasts.PausedByCap:
		return notice{
			Heading: "The daily cap of the application is reached",
			Text:    "The application that sent the broadcast has mailed as many recipients today as it may." + resumes + " No recipient is lost.",
			Link:    frame.Link{Path: frame.Path + "/clients", Name: "View applications"},
		}
	case broadcasts.PausedByStop:
		return notice{Heading: "A person stopped all mail of the organization", Text: "The broadcast goes on when a person allows mail again."}
	case broadcasts.PausedByFault:
		return notice{
			Heading: "The broadcast could not start",
			Text:    "Its content, audience or sender was changed or deleted after it was scheduled. Read the warnings, edit the broadcast, and resume it.",
		}
	}
	return notice{
		Heading: "The sending account accepts no messages now", Text: "It has reached its rate or its daily quota, or it does not answer." + resumes + " No recipient is lost.",
		Link: frame.Link{Path: accountPath, Name: "View the sending account"},
	}
}
