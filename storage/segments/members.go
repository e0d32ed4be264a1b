package segments

import (
	"context"
	"database/sql"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/membership"
)

var (
	segmentMembersPage   = engine.Register("segment members page", membership.PageSQL("segment_members", "segment_id", "entered_at"))
	segmentMemberByID    = engine.RegisterPoint("segment member by id", membership.ByIDSQL("segment_members", "segment_id"))
	segmentsSince        = engine.RegisterPoint("segments of a contact with times", membership.SinceSQL("segments", "segment_members", "segment_id", "entered_at"))
	segmentMemberByEmail = engine.RegisterPoint("segment member by email", membership.ByEmailSQL("segment_members", "segment_id"))

	// leaveSegment deletes those members of a segment that were evaluated (ids in $3) and do
	// not match (ids not in $4). It returns the ids of the deleted members, for the
	// membership log.
	leaveSegment = engine.Register("leave segment", `
		DELETE FROM segment_members WHERE org_id = $1 AND segment_id = $2
		AND contact_id IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)
		AND contact_id NOT IN (SELECT j.atom FROM json_each(CAST($4 AS text)) AS j)
		RETURNING contact_id`)
	// enterSegment inserts members and returns the ids of the new ones. For an existing
	// member, the stored time at which it entered the segment does not change.
	enterSegment = engine.Register("enter segment", `
		INSERT INTO segment_members (org_id, segment_id, contact_id, entered_at)
		SELECT $1, $2, j.atom, CAST($3 AS bigint) FROM json_each(CAST($4 AS text)) AS j WHERE TRUE
		ON CONFLICT DO NOTHING
		RETURNING contact_id`)
	// countEvaluated adds $1 to the stored number of members. $1 is the number of contacts
	// that entered the segment minus the number that left. So an evaluation of some contacts
	// need not count all members.
	countEvaluated = engine.Register("segment partly evaluated", `
		UPDATE segments SET member_count = member_count + CAST($1 AS bigint), last_evaluated_at = $2 WHERE org_id = $3 AND id = $4`)
	// wholeEvaluated ends an evaluation of all contacts. It counts all members of the
	// segment, which corrects a wrong stored count.
	wholeEvaluated = engine.Register("segment evaluated", `
		UPDATE segments SET last_evaluated_at = $1, stale = FALSE,
			member_count = (SELECT count(*) FROM segment_members AS m WHERE m.org_id = segments.org_id AND m.segment_id = segments.id)
		WHERE org_id = $2 AND id = $3`)
)

// MemberStore stores which contacts are members of segments. It finds them with predicates.
type MemberStore struct{ db *engine.DB }

var _ segments.MemberStore = MemberStore{}

// NewMemberStore returns the store of segment members on the database.
func NewMemberStore(db *engine.DB) MemberStore { return MemberStore{db} }

func (s MemberStore) SegmentMembers(ctx context.Context, orgID, segmentID string, after *core.After, limit int) ([]segments.Member, error) {
	return membership.Page(ctx, s.db, segmentMembersPage, orgID, segmentID, after, limit, func(r membership.Member) segments.Member {
		return segments.Member{ContactID: r.ContactID, Email: r.Email, Mailable: r.Mailable, EnteredAt: r.Since.Time()}
	})
}

func (s MemberStore) SegmentsSince(ctx context.Context, orgID, contactID string) (map[string]time.Time, error) {
	return membership.Since(ctx, s.db, segmentsSince, orgID, contactID)
}

func (s MemberStore) IsSegmentMember(ctx context.Context, orgID, segmentID, contact string) (bool, error) {
	return membership.Contains(ctx, s.db, segmentMemberByID, segmentMemberByEmail, orgID, segmentID, contact, core.EmailKey(contact))
}

func (s MemberStore) CountMatching(ctx context.Context, q segments.Question) (int, error) {
	c, err := conditionOn(s.db, &q)
	if err != nil {
		return 0, err
	}
	return s.count(ctx, c.query("count of a predicate", c.selectQuery(`count(*)`)))
}

func (s MemberStore) Examples(ctx context.Context, q segments.Question, limit int) ([]segments.Example, error) {
	c, err := conditionOn(s.db, &q)
	if err != nil {
		return nil, err
	}
	sample := c.query("sample of a predicate", c.sampleQuery(limit))
	examples, err := engine.Rows(ctx, s.db, sample, func(rows *sql.Rows) (segments.Example, error) {
		var e segments.Example
		err := rows.Scan(&e.ContactID, &e.Email, &e.Mailable)
		return e, err
	})
	if examples == nil {
		examples = []segments.Example{}
	}
	return examples, err
}

// sampleQuery returns the query for the matching contacts with the smallest ids, at most
// limit, with their addresses. It applies the limit before it looks up the addresses by
// primary key. LATERAL on PostgreSQL and CROSS JOIN on SQLite force this order. Otherwise
// PostgreSQL without statistics repeats the search for each contact of the organization.
func (c *condition) sampleQuery(limit int) string {
	first := c.selectQuery(`s.contact_id`) + ` ORDER BY s.contact_id LIMIT ` + c.parameter(limit)
	return `SELECT c.id, c.email, ` + membership.IsMailable + ` FROM (` + first + `) AS f
		CROSS JOIN /*pg LATERAL (SELECT * FROM*/ contacts /*pg AS named
			WHERE named.org_id = ` + orgParameter + ` AND named.id = f.contact_id LIMIT 1)*/ AS c
		WHERE c.org_id = ` + orgParameter + ` AND c.id = f.contact_id ORDER BY c.id`
}

func (s MemberStore) DifferingContacts(ctx context.Context, q segments.Question, segmentID string, limit int) ([]string, error) {
	c, err := conditionOn(s.db, &q)
	if err != nil {
		return nil, err
	}
	entering, err := engine.Rows(ctx, s.db, c.query("contacts that enter", c.selectQuery(`s.contact_id`)+
		` AND NOT EXISTS (SELECT 1 FROM segment_members AS x WHERE x.org_id = `+orgParameter+
		` AND x.segment_id = `+c.text(segmentID)+` AND x.contact_id = s.contact_id) LIMIT `+c.parameter(limit)), scanID)
	if err != nil || len(entering) == limit {
		return entering, err
	}
	leaving, err := s.leavingMembers(ctx, &c, segmentID, limit-len(entering))
	return append(entering, leaving...), err
}

// leavingMembers returns up to limit members of the segment that no longer match the
// condition. It uses a join, because NOT IN would search a long list once for each member.
func (s MemberStore) leavingMembers(ctx context.Context, c *condition, segmentID string, limit int) ([]string, error) {
	return engine.Rows(ctx, s.db, c.query("contacts that leave", `SELECT x.contact_id FROM segment_members AS x LEFT JOIN (`+
		c.selectQuery(`s.contact_id`)+`) AS f ON f.contact_id = x.contact_id WHERE x.org_id = `+orgParameter+` AND x.segment_id = `+c.text(segmentID)+
		` AND f.contact_id IS NULL LIMIT `+c.parameter(limit)), scanID)
}

func (s MemberStore) JudgeMembers(ctx context.Context, q segments.Question, segmentID string) (entered, exited []string, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		found, err := matchingContacts(ctx, s.db, &q)
		if err != nil {
			return err
		}
		judged, err := engine.JSONParameter(q.Contacts)
		if err != nil {
			return err
		}
		in, err := engine.JSONParameter(found)
		if err != nil {
			return err
		}
		if exited, err = engine.Values[string](ctx, s.db, leaveSegment, q.OrgID, segmentID, judged, in); err != nil {
			return err
		}
		if entered, err = engine.Values[string](ctx, s.db, enterSegment, q.OrgID, segmentID, engine.At(q.Now), in); err != nil {
			return err
		}
		if err := s.logSegment(ctx, q.OrgID, segmentID, exited, entered, q.Now); err != nil {
			return err
		}
		if _, err = s.db.Exec(ctx, countEvaluated, len(entered)-len(exited), engine.At(q.Now), q.OrgID, segmentID); err != nil {
			return err
		}
		if len(entered)+len(exited) == 0 {
			return nil
		}
		return s.storeSize(ctx, q.OrgID, segmentID, q.Now)
	})
	return entered, exited, err
}

// logSegment writes to the membership log which contacts left and entered a segment.
func (s MemberStore) logSegment(ctx context.Context, orgID, segmentID string, exited, entered []string, at time.Time) error {
	of := func(contacts []string) []membership.InSet {
		all := make([]membership.InSet, len(contacts))
		for i, id := range contacts {
			all[i] = membership.InSet{Contact: id, Set: segmentID}
		}
		return all
	}
	return membership.Log(ctx, s.db, orgID, string(lists.SegmentSet), of(exited), of(entered), at)
}

func (s MemberStore) SetEvaluatedAt(ctx context.Context, orgID, segmentID string, at time.Time) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.db.Change(ctx, "segment", wholeEvaluated, engine.At(at), orgID, segmentID); err != nil {
			return err
		}
		if err := s.storeSize(ctx, orgID, segmentID, at); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, purgeSizes, orgID, segmentID, engine.At(at.Add(-sizesKept)))
		return err
	})
}
