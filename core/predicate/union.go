package predicate

import (
	"cmp"
	"slices"
)

// Union returns the parts of a contact that at least one of several predicates reads.
func Union(all ...References) References {
	var u References
	for _, r := range all {
		u.Attributes, u.Topics = append(u.Attributes, r.Attributes...), append(u.Topics, r.Topics...)
		u.Lists, u.Segments = append(u.Lists, r.Lists...), append(u.Segments, r.Segments...)
		u.Events, u.Properties = append(u.Events, r.Events...), append(u.Properties, r.Properties...)
		u.Email, u.Consent, u.Suppression = u.Email || r.Email, u.Consent || r.Consent, u.Suppression || r.Suppression
	}
	for _, names := range []*[]string{&u.Attributes, &u.Topics, &u.Lists, &u.Segments} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	slices.SortFunc(u.Events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Activity, b.Activity)) })
	slices.SortFunc(u.Properties, func(a, b ActivityProperty) int {
		return cmp.Or(cmp.Compare(a.Activity, b.Activity), cmp.Compare(a.Property, b.Property))
	})
	u.Events, u.Properties = slices.Compact(u.Events), slices.Compact(u.Properties)
	return u
}
