//! Finds out which JSON a request type takes. A probe stands in for the JSON: the type is deserialised from it, and the probe notes
//! which kind of value the type asks for.

use std::fmt;

use serde::de::value::{Error as ProbeError, StrDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};

/// What a type takes at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An object with these fields.
    Struct(&'static [&'static str]),
    /// One of these words.
    Words(&'static [&'static str]),
    List,
    /// A kind of JSON.
    Plain(&'static str),
    /// The type takes several kinds and decides later.
    Any,
}

impl Shape {
    /// Stands in a path for the items of a list.
    pub(crate) const ITEM: &'static str = "[]";
}

/// What a type takes at a path of fields. `None` if there is no such place.
pub(crate) fn shape_of<R: DeserializeOwned>(path: &[&'static str]) -> Option<Shape> {
    let mut found = None;
    // The probe gives no value, so deserialising always ends with an error. Only the note of the probe counts.
    let _ = R::deserialize(Probe { path, found: &mut found });
    found
}

/// A deserializer that follows a path of fields and notes which kind of value is asked for at its end.
struct Probe<'a> {
    path: &'a [&'static str],
    found: &'a mut Option<Shape>,
}

impl Probe<'_> {
    fn note<T>(self, shape: Shape) -> Result<T, ProbeError> {
        if self.path.is_empty() {
            *self.found = Some(shape);
        }
        Err(de::Error::custom(NoValue))
    }
}

macro_rules! plain {
    ($($method:ident $kind:literal;)*) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ProbeError> {
            self.note(Shape::Plain($kind))
        })*
    };
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = ProbeError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ProbeError> {
        self.note(Shape::Any)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        match self.path.split_first() {
            Some((field, path)) => {
                visitor.visit_map(OneValue { field, probe: Probe { path, ..self }.into() })
            }
            None => self.note(Shape::Struct(fields)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
        match self.path.split_first() {
            Some((&Shape::ITEM, path)) => {
                visitor.visit_seq(OneValue { field: Shape::ITEM, probe: Probe { path, ..self }.into() })
            }
            _ => self.note(Shape::List),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ProbeError> {
        self.note(Shape::Words(variants))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProbeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        visitor.visit_newtype_struct(self)
    }

    plain! {
        deserialize_bool "boolean";
        deserialize_i8 "integer"; deserialize_i16 "integer"; deserialize_i32 "integer"; deserialize_i64 "integer";
        deserialize_u8 "integer"; deserialize_u16 "integer"; deserialize_u32 "integer"; deserialize_u64 "integer";
        deserialize_f32 "number"; deserialize_f64 "number";
        deserialize_char "string"; deserialize_str "string"; deserialize_string "string";
        deserialize_map "object";
    }

    serde::forward_to_deserialize_any! {
        i128 u128 bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// One field of an object, or one item of a list: the next step of the path.
struct OneValue<'a> {
    field: &'static str,
    probe: Option<Probe<'a>>,
}

impl OneValue<'_> {
    fn value<'de, T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ProbeError> {
        match self.probe.take() {
            Some(probe) => seed.deserialize(probe),
            None => Err(de::Error::custom(NoValue)),
        }
    }
}

impl<'de> MapAccess<'de> for OneValue<'_> {
    type Error = ProbeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ProbeError> {
        let name: StrDeserializer<'_, ProbeError> = self.field.into_deserializer();
        if self.probe.is_some() { seed.deserialize(name).map(Some) } else { Ok(None) }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ProbeError> {
        self.value(seed)
    }
}

impl<'de> SeqAccess<'de> for OneValue<'_> {
    type Error = ProbeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ProbeError> {
        self.value(seed).map(Some)
    }
}

struct NoValue;

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a probe has no value")
    }
}
