//! Answers, explanations and lists: the end of a turn in which the person asked something and no file had to be changed.

use super::IntentRule;
use super::decide::FoundIntent;
use super::prose::Sentence;
use super::shapes::{MessageShape, shape};
use super::signs::Sign::{self, *};

/// The fewest sentences of a message that explains something without a word such as "because". A single sentence may as well be a remark.
const ACCOUNT_SENTENCES_MIN: usize = 2;

/// Forms of an answer, of an explanation and of what is not finished.
#[rustfmt::skip]
pub(super) const ANSWERS: &[MessageShape] = &[
    shape(DirectAnswer, "Yes, both routes use it.", r"^(?:yes|yep|nope|correct|right|exactly|indeed|true|false|neither|none|it depends|that depends|(?:the )?short (?:answer|version)|in short)(?:[ ,.:;!]|$)|^no(?:[,.:;!]| –| —|$)|^(?:it|that|this) (?:depends|isn't possible|is possible|isn't needed|isn't supported|is safe|is correct|is right)\b"),
    shape(DirectAnswer, "Not quite: each worker has its own.", r"^not (?:quite|exactly|really|that i|as far|necessarily|any ?more|directly|by default|in|with|without|on|at|for|if|unless|since|from|here|safely|automatically|today)\b"),
    shape(DirectAnswer, "Three times: at start and at each reload.", r"^(?:once|twice|[a-z]+ times|[0-9][0-9,.]* times|roughly|approximately|(?:about|around|some|nearly|almost|up to|at most|at least) [0-9][^ ]*)[ :,]"),
    shape(DirectAnswer, "There's nothing to fix.", r"^(?:there(?:'s| is|'s currently) (?:nothing|no need|no [a-z]+ (?:to|in|for|of|that|with|between))|there are no|nothing (?:calls|uses|reads|writes|needs|depends|to|in|prevents|stops)|you don't (?:need|have)|no need)\b"),
    shape(DirectAnswer, "Your assumption holds.", r"^(?:your|the|that) (?:assumption|guess|reading|understanding|suspicion|intuition|theory|conclusion)\b[^?]* (?:holds|is (?:right|correct|true|wrong))\b|^you(?:'re| are) (?:right|correct)\b"),
    shape(DirectAnswer, "Ja, der Worker liest sie beim Start.", r"^(?:ja|nein|doch|richtig|genau|stimmt|korrekt|jein|weder|das kommt|kommt darauf|es kommt darauf|da gibt es nichts)[ ,.:;!]"),
    shape(DirectAnswer, "Sí, es seguro.", r"^(?:sí|si|correcto|exacto|exactamente|depende|así es|ninguno|ninguna|efectivamente|en efecto|no hay nada|no hace falta)[ ,.:;!]|^no[,.:;]"),
    shape(DirectAnswer, "Oui, les deux routes y passent.", r"^(?:oui|non|exact|exactement|tout à fait|en effet|effectivement|ça dépend|cela dépend|aucun|aucune|il n'y a rien)[ ,.:;!]"),
    shape(DirectAnswer, "是的,可以重复调用。", r"^(?:是的|对的|对,|对，|不是|没有|不需要|不用|可以|不可以|没错|正确|是,|是，|否|无需|不必|不能|不会|はい|いいえ|ええ|その通り|そうです|問題ありません|特に|네|예|아니요|맞습니다)"),
    shape(DirectAnswer, "Sim, o campo ainda é lido.", r"^(?:sim|não|nao|correto|exato|exatamente|depende|nenhum|nenhuma|sì|esatto|esattamente|corretto|dipende|nessuno|nessuna|да|Да|нет|Нет)[ ,.:;!]"),
    shape(Reason, "It is slow because each row runs a query.", r"\b(?:because|since|hence|therefore|thus|consequently|so that|is why|which (?:is|explains|means|makes)|that's (?:why|because)|means that|due to|caused by|comes? from|stems? from|in other words|the former|the latter|under the hood)\b|, so (?:it|they|the|you|a|an|each|every|nothing|both|only|that|this|there)\b|\b(?:by default|instead of|no matter)\b"),
    shape(Reason, "The difference is the moment of the check.", r"^(?:the|a|one|its|that|this) (?:[a-z]+ )?(?:reason|cause|difference|problem|error|regression|bug|culprit|catch|trick|idea|point|bottleneck|answer|explanation|pattern|result|effect|default|limit)\b|\b(?:explains|accounts for|amounts to)\b|\bworks (?:as follows|like this)\b|^[^:?]*[a-z)]: [^?:]*[0-9][^?:]*, [^?:]*[0-9]|^(?:how|why|what) [^?]*(?:works?|does|happens|is|are|see)\b"),
    shape(Reason, "Das liegt am Garbage Collector.", r"\b(?:weil|deshalb|daher|denn|somit|deswegen|dadurch|also|sodass)\b|\b(?:der unterschied|der grund|die ursache|liegt (?:daran|an|am|im))\b"),
    shape(Reason, "Por eso funciona en local.", r"\b(?:porque|por eso|así que|ya que|por lo que|debido a|por tanto|la diferencia|el motivo|la causa|se debe|portanto|por isso|pois|a diferença|o motivo|perché|quindi|per questo|poiché|pertanto|la differenza|il motivo)\b"),
    shape(Reason, "Il échoue parce que le port est pris.", r"\b(?:parce que|car|c'est pourquoi|donc|puisque|la différence|la raison|la cause|à cause)\b|因为|所以|原因|由于|因此|区别|导致|ため|ので|理由|違い|からです|때문|потому|поэтому"),
    shape(Unfinished, "Still failing.", r"^still\b|\bstill (?:fails?|failing|red|broken|wrong|no|not|open|happens|crash(?:es)?|hangs?|[a-z]+ing)\b|\b(?:not yet|so far|had no effect|no luck|didn't (?:help|work)|interrupted|gave up|half-?way|hypothesis|my theory|to be continued|under ?way|inconclusive|don't have (?:a|an|any) (?:conclusion|answer|result|explanation)|in progress)\b"),
    shape(Unfinished, "The build failed.", r"^(?:the |all |[0-9]+ )?(?:[a-z]+ )?(?:build|tests?|deploy(?:ment)?|job|run|upload|download|install(?:ation)?|migration|command|request|connection)s? (?:has |have )?(?:failed|timed out|crashed|aborted)\b"),
    shape(Unfinished, "I started the migration.", r"^(?:i|we)(?:'ve| have)? (?:just |also |now )?(?:started|launched|kicked off|begun|queued|triggered|scheduled)\b|\b(?:this|it|that) (?:takes|will take|may take|can take) (?:a while|some|a few|about|around|several|another|long)|\b(?:once|when|as soon as|after) (?:i have|i've|both|they|those|these|the [a-z]+ (?:is|are|has|have))\b[^?]*\b(?:i|we)(?:'ll| will| can)\b|\b(?:no|not|nothing|none|haven't|hasn't|didn't) [^?]*\byet\b|^(?:re-?)?started (?:another|it|an?|the|them|again)\b|\b(?:agents?|subagents?|reviewers?)\b[^?]* (?:is|are) (?:still |now |both |all )?(?:[a-z]+ing|at work)\b|\b(?:is|are) [a-z]+ing\b[^?]*\b(?:in parallel|at the moment|right now|in the background)\b|\b(?:processed|at|reached) (?:about |around )?[0-9][0-9.]* ?%"),
    shape(Unfinished, "Der Import läuft noch.", r"\b(?:läuft|laufen|lädt|baut) noch\b|\bnoch nicht\b|\bbisher\b|\b(?:todavía|aún) (?:no|está|están|sigue|quedan?|faltan?)\b|\ben curso\b|\ben cours\b|\bpas encore\b|\bpour l'instant\b|\bainda (?:está|estão|estou|não|falta)\b|\bem andamento\b|\b(?:sto|stiamo|sta|stanno) ancora\b|\bnon ancora\b|\bin corso\b|还在|正在|尚未|还没|目前为止|(?:実行|処理|構築|ビルド|確認|調査|待機|作業)中|まだ"),
    shape(Hesitates, "I'd split this into three pull requests.", r"\b(?:i|we)(?:'d| would| could| can't| cannot| couldn't| won't| need| must| have to| wanted| didn't want| don't want| hesitate| assume[ds]?)\b|\b(?:before|until|unless|so that|while) (?:i|we)\b|\b(?:would|could) (?:help|unblock)\b"),
    shape(Hesitates, "Bevor ich sie anfasse, gilt eine Frist.", r"\b(?:bevor|ehe|solange|bis) ich\b|\bich (?:würde|könnte|brauche|bräuchte|muss)\b|\bantes de (?:que )?(?:eu|borrar|tocar|seguir|continuar|copiar|apagar|mexer)\b|\b(?:necesito|preciso|haría|faria)\b|\bavant (?:de|que je)\b|\bje (?:voudrais|préfère|préférerais|ferais)\b|\bprima di\b|之前需要|前に(?:確認|ご)"),
    shape(OwnReport, "I'll report back when it finishes.", r"^(?:[^,;:]*[,;:] )?(?:and |then |so )?(?:i|we)(?:'ll| will| shall|'m| am|'re| are|'d| would| can| keep| check)\b[^?]*\b(?:report back|come back|get back)\b"),
    shape(OpenPoint, "Open point: the name.", r"^(?:one |an |the |still |remaining |only |last )*open (?:point|question|issue|decision|item)s?\b"),
];

/// The message answers, explains or lists something. It comes last: what the message asks or reports weighs more. If files were changed,
/// it describes the result.
pub(super) fn answer<'a>(sentences: &'a [Sentence<'a>], changed_files: bool) -> FoundIntent<'a> {
    let (first, last) = (sentences.first()?, sentences.last()?);
    if changed_files || sentences.iter().any(leaves_open) {
        return None;
    }
    if first.opening && first.signs.has(Sign::DirectAnswer) && !first.is_question() {
        return Some((IntentRule::DirectAnswer, first));
    }
    let told = || sentences.iter().filter(|s| !s.is_question());
    let explains =
        told().any(|s| s.signs.has(Sign::Reason)) || told().nth(ACCOUNT_SENTENCES_MIN - 1).is_some();
    explains.then_some((IntentRule::Explains, last))
}

/// Whether the sentence says that something is not finished, or hints at something that the person has to do.
fn leaves_open(sentence: &Sentence<'_>) -> bool {
    let open = [Sign::Unfinished, Sign::Hesitates, Sign::OpenPoint, Sign::Blocked];
    let asks = [Sign::Request, Sign::WeakRequest, Sign::Unable];
    let has = |sign: &Sign| sentence.signs.has(*sign);
    open.iter().any(has) || asks.iter().any(has) && !sentence.signs.has(Sign::NoRequest)
}
