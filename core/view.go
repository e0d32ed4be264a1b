package core

import "reflect"

// The interfaces [AgentViewer] and [RESTViewer] are generic, so that the return type of the
// view method determines the schema. Reflection finds the method once, when the operation
// is declared.

func viewMethod(s Surface) string {
	if s == Agent {
		return "AgentView"
	}
	return "RESTView"
}

// viewer converts results of one type to the form that one surface shows.
type viewer struct {
	shown reflect.Type
	// index of the view method among the methods of the result type; -1 if the result is
	// shown as it is
	method int
}

// viewerOf returns the viewer that converts results of type out to the form of a surface.
// It panics if the view method of the type, RESTView or AgentView, has a wrong signature.
func viewerOf(out reflect.Type, s Surface) viewer {
	m, ok := out.MethodByName(viewMethod(s))
	if !ok {
		return viewer{shown: out, method: -1}
	}
	if m.Type.NumIn() != 1 || m.Type.NumOut() != 1 {
		panic("core: " + out.String() + "." + m.Name + " must take nothing and return one value")
	}
	return viewer{shown: m.Type.Out(0), method: m.Index}
}

func (v viewer) view(out any) any {
	if v.method < 0 {
		return out
	}
	return reflect.ValueOf(out).Method(v.method).Call(nil)[0].Interface()
}
