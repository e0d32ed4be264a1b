package reports

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// figures has the counts of a report's time window: the map days has them by day, and the
// map groups by group. A map that the caller did not request may be incomplete.
type figures struct {
	days   map[time.Time]Counts
	groups map[Group]Counts
}

type wantedFigures struct{ days, groups bool }

// read returns the counts that match the filter. Whole days come from the stored daily
// counts, parts of days from the stored hourly counts and from events.
//
// If the window ends now or later, read counts the whole last day, which is faster. If the
// provider's clock is ahead, that day may contain messages sent after the window. If such
// messages are stored, read counts only the part of the day inside the window. It looks for
// such messages after reading the counts, so that it finds every message that the counts
// include.
func (r *Reports) read(ctx context.Context, orgID string, f Filter, now time.Time, want wantedFigures) (figures, error) {
	later := rest(f.Window)
	if later.From.Before(now.Truncate(time.Microsecond)) || !later.From.Before(later.To) {
		return r.readSpan(ctx, orgID, f, splitAtMidnight(f.Window), want)
	}
	found, err := r.readSpan(ctx, orgID, f, splitAtMidnight(core.Window{From: f.From, To: later.To}), want)
	if err != nil {
		return figures{}, err
	}
	ahead, err := r.Store.AnyMessage(ctx, orgID, later)
	if err != nil {
		return figures{}, fmt.Errorf("report on the rest of a day: %w", err)
	}
	if ahead {
		return r.readSpan(ctx, orgID, f, splitAtMidnight(f.Window), want)
	}
	return found, nil
}

func (r *Reports) readSpan(ctx context.Context, orgID string, f Filter, s span, want wantedFigures) (figures, error) {
	found := figures{days: map[time.Time]Counts{}, groups: map[Group]Counts{}}
	if s.days.From.Before(s.days.To) {
		f.Window = s.days
		if err := r.readDays(ctx, orgID, f, want, found); err != nil {
			return figures{}, err
		}
	}
	for _, part := range s.parts {
		f.Window = part
		if err := r.readPart(ctx, orgID, f, found); err != nil {
			return figures{}, err
		}
	}
	return found, nil
}

func (r *Reports) readDays(ctx context.Context, orgID string, f Filter, want wantedFigures, into figures) error {
	if want.days {
		rows, err := r.Store.DayCounts(ctx, orgID, f)
		if err != nil {
			return fmt.Errorf("report by day: %w", err)
		}
		for _, row := range rows {
			addTo(into.days, row.Day, row.Counts)
		}
	}
	if want.groups {
		rows, err := r.Store.GroupCounts(ctx, orgID, f)
		if err != nil {
			return fmt.Errorf("report by group: %w", err)
		}
		for _, row := range rows {
			addTo(into.groups, row.Group, row.Counts)
		}
	}
	return nil
}

// readPart reads the counts of the messages that were sent in the window of the filter f,
// which is a part of one day. It adds the counts to the figures in the parameter into.
func (r *Reports) readPart(ctx context.Context, orgID string, f Filter, into figures) error {
	type source struct {
		count  func(context.Context, string, Filter) ([]GroupCounts, error)
		window core.Window
	}
	var sources []source
	hours, minutes := splitAtHours(f.Window)
	if hours.From.Before(hours.To) {
		sources = append(sources, source{r.Store.HourCounts, hours})
	}
	for _, part := range minutes {
		sources = append(sources, source{r.Store.FromEvents, part})
	}
	for _, s := range sources {
		f.Window = s.window
		rows, err := s.count(ctx, orgID, f)
		if err != nil {
			return fmt.Errorf("report on a part of a day: %w", err)
		}
		for _, row := range rows {
			addTo(into.days, dayOf(s.window.From), row.Counts)
			addTo(into.groups, row.Group, row.Counts)
		}
	}
	return nil
}

func addTo[K comparable](sums map[K]Counts, key K, c Counts) {
	sum := sums[key]
	sum.add(c)
	sums[key] = sum
}

func total[K comparable](sums map[K]Counts) Counts {
	var all Counts
	for _, c := range sums {
		all.add(c)
	}
	return all
}

// series returns the sums of daily counts by period, oldest first. It omits periods in
// which all counts are 0.
func series(days map[time.Time]Counts, p Period) []DayCounts {
	periods := map[time.Time]Counts{}
	for at, c := range days {
		addTo(periods, p.startOf(at), c)
	}
	points := make([]DayCounts, 0, len(periods))
	for _, start := range slices.SortedFunc(maps.Keys(periods), time.Time.Compare) {
		if c := periods[start]; c != (Counts{}) {
			points = append(points, DayCounts{start, c})
		}
	}
	return points
}

// filterBy returns the filter for a REST report. ok is false if the channel does not exist;
// the report is then empty.
func (r *Reports) filterBy(ctx context.Context, c *core.Call, from, to *time.Time, channelID, identity string) (f Filter, ok bool, err error) {
	f = Filter{Identity: domainOf(identity)}
	if f.Window, err = core.WindowOf(from, to, c.Now, c.Principal.Org.RetentionDays); err != nil {
		return f, false, err
	}
	if channelID == "" {
		return f, true, nil
	}
	f.Channel, err = r.Channels.ChannelName(ctx, c.Principal.Org.ID, strings.ToLower(channelID))
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return f, false, nil
	}
	return f, err == nil, err
}
