package arrivals

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

const (
	// maxPerDay is how many files a domain receives by mail in a day. The address is public in DNS,
	// so that anyone can send mail to it. About a hundred reporters exist that send reports each
	// day, and some send one each hour.
	maxPerDay = 5000
	// maxText is how much of a name or an address is stored, in bytes.
	maxText = 300
)

// Destination takes mail to report addresses. It is the [inbound.Destination] of
// [inbound.ToReports].
type Destination struct {
	store FileStore
	clock core.Clock
	wake  func()
	log   *slog.Logger
}

var _ inbound.Destination = (*Destination)(nil)

// NewDestination returns a Destination. wake lets the reader of this process look at once; nil
// leaves that to the readers, which look regularly.
func NewDestination(store FileStore, clock core.Clock, wake func(), log *slog.Logger) *Destination {
	return &Destination{store, clock, wake, log}
}

// Deliver stores a file for each part of a message that may be a report, or one that says why
// there is none. It keeps the objects of a message that has such a part. It drops mail to a domain
// that does not exist any more, or that received too many files today.
func (d *Destination) Deliver(ctx context.Context, all []inbound.Delivery) ([]bool, error) {
	byOrg := map[string][]int{}
	for n, one := range all {
		org := one.Routes[0].OrgID
		byOrg[org] = append(byOrg[org], n)
	}
	kept := make([]bool, len(all))
	for _, org := range slices.Sorted(maps.Keys(byOrg)) { // in the same order in all processes
		files, of, err := d.files(ctx, org, all, byOrg[org])
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			continue
		}
		added, err := d.store.AddFiles(ctx, org, files)
		if err != nil {
			return nil, err
		}
		for _, id := range added {
			if n, hasObject := of[id]; hasObject {
				kept[n] = true
			}
		}
	}
	return kept, nil
}

// files returns the files of deliveries to one organization, and by their ids which delivery the
// ones with objects belong to.
func (d *Destination) files(ctx context.Context, org string, all []inbound.Delivery, which []int) ([]File, map[string]int, error) {
	room, err := d.room(ctx, org, all, which)
	if err != nil {
		return nil, nil, err
	}
	var files []File
	of := map[string]int{}
	for _, n := range which {
		found, domain := filesOf(all[n], d.clock()), all[n].Routes[0].TargetID
		if room[domain] < len(found) {
			d.log.WarnContext(ctx, "mail to a report address was dropped: its domain was deleted, or received too much mail today", "org_id", org, "domain_id", domain)
			continue
		}
		room[domain] -= len(found)
		files = append(files, found...)
		for _, f := range found {
			if f.Stored.Key != "" {
				of[f.ID] = n
			}
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.ID, b.ID) })
	return files, of, nil
}

// room returns how many files each domain of the deliveries may still receive today. Domains that
// do not exist are not in it.
func (d *Destination) room(ctx context.Context, org string, all []inbound.Delivery, which []int) (map[string]int, error) {
	var ids []string
	for _, n := range which {
		ids = append(ids, all[n].Routes[0].TargetID)
	}
	slices.Sort(ids)
	known, err := d.store.KnownDomains(ctx, org, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	room := map[string]int{}
	for _, id := range known {
		n, err := d.store.CountFiles(ctx, Target{org, id}, d.clock().Add(-24*time.Hour), maxPerDay)
		if err != nil {
			return nil, err
		}
		room[id] = maxPerDay - n
	}
	return room, nil
}

// Committed wakes the reader.
func (d *Destination) Committed(context.Context, inbound.Delivery) {
	if d.wake != nil {
		d.wake()
	}
}

// filesOf returns the files of a message, at least one.
func filesOf(d inbound.Delivery, now time.Time) []File {
	m, route := d.Message, d.Routes[0]
	one := File{
		OrgID: route.OrgID, DomainID: route.TargetID, Origin: Mail, MessageID: m.ID, Verdicts: &m.Verdicts,
		State: Failed, Size: m.Size, ReceivedAt: m.ReceivedAt, UpdatedAt: now,
	}
	if m.From != nil {
		one.Sender = shortText(m.From.Address)
		one.Reporter = domainOf(one.Sender)
	}
	parts := partsOf(m)
	switch {
	case m.Verdicts.Virus == inbound.Fail:
		one.ID, one.Problem = fileID(one, 0), "This message was not read, because the virus scanner found malware in it."
		return []File{one}
	case len(parts) == 0:
		one.ID, one.Problem = fileID(one, 0), "This message has no attachment that could be a DMARC report."
		return []File{one}
	}
	var files []File
	for i, p := range parts {
		f := one
		f.ID, f.Name, f.Size = fileID(one, i), shortText(p.name), p.size
		if i == maxParts {
			f.Name, f.Problem = "", "This message has "+strconv.Itoa(len(parts)-maxParts)+" more attachments. Only the first "+strconv.Itoa(maxParts)+" were read."
			files = append(files, f)
			break
		}
		f.State, f.DueAt = Waiting, now
		f.Stored = Stored{StoreID: m.StoreID, Key: p.key, InText: p.inText}
		files = append(files, f)
	}
	read := map[string]bool{}
	for _, f := range files {
		read[f.Stored.Key] = true
	}
	files[0].Stored.Others = slices.DeleteFunc(m.Keys(), func(key string) bool { return read[key] })
	return files
}

// fileID returns the id of the n-th file of a message to a domain: a UUID whose bits are of a
// hash, so that it is the same however often the message is processed.
func fileID(f File, n int) string {
	sum := sha256.Sum256([]byte(f.DomainID + "\n" + f.MessageID + "\n" + strconv.Itoa(n)))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 (RFC 9562), variant 10
	return id.String()
}

// shortText returns the beginning of a text, without what PostgreSQL cannot store.
func shortText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// domainOf returns the part of an address after the last @, in lower case.
func domainOf(address string) string {
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}
