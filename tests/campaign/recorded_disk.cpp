#include "tests/campaign/recorded_disk.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace hone::test {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t folder_entry = ~std::size_t{0} - 1;  // a name of a folder instead of a file

}  // namespace

RecordedDisk::RecordedDisk(std::vector<LoggedCall> calls, fs::path folder) : calls_(std::move(calls)), folder_(std::move(folder)) {
    folders_[folder_];
    for (std::size_t i = 0; i < calls_.size(); ++i)
        if (calls_[i].event.error == 0) take(i);
}

std::size_t RecordedDisk::file_at(std::uint64_t inode) const {
    const auto found = by_inode_.find(inode);
    if (found == by_inode_.end()) throw std::runtime_error("a call about a file that was not made in this run");
    return found->second;
}

void RecordedDisk::name(std::size_t moment, const fs::path& path, std::optional<std::size_t> file) {
    folders_[path.parent_path()].namings.push_back({moment, {{path.filename().string(), file}}, never});
    if (!file) return;
    ever_named_[path].push_back(*file);
    named_[path] = *file;
}

void RecordedDisk::take(std::size_t moment) {
    const auto& [event, path, more] = calls_[moment];
    switch (event.call) {
        case Call::open:
            if (event.created != 0) {
                by_inode_[event.inode] = files_.size();  // a number may be used again
                files_.emplace_back();
                name(moment, path, files_.size() - 1);
            } else if (event.truncated != 0) {
                files_[file_at(event.inode)].changes.push_back({moment, 0, 0, "", never});
            }
            break;
        case Call::write:
        case Call::pwrite:
            files_[file_at(event.inode)].changes.push_back({moment, std::nullopt, event.offset, more, never});
            break;
        case Call::ftruncate:
            files_[file_at(event.inode)].changes.push_back({moment, event.offset, 0, "", never});
            break;
        case Call::fsync:
        case Call::fdatasync:
            if (const auto found = folders_.find(path); found != folders_.end()) {
                for (Naming& naming : found->second.namings) naming.synchronised = std::min(naming.synchronised, moment);
            } else {
                for (Change& change : files_[file_at(event.inode)].changes) change.synchronised = std::min(change.synchronised, moment);
            }
            break;
        case Call::mkdir:
            folders_[path];
            folders_[fs::path(path).parent_path()].namings.push_back({moment, {{fs::path(path).filename().string(), folder_entry}}, never});
            break;
        case Call::rename: {
            const fs::path from = path;
            const fs::path to = more;
            if (from.parent_path() != to.parent_path()) throw std::runtime_error("a rename between two folders");
            name(moment, to, file_at(event.inode));
            folders_[from.parent_path()].namings.back().entries.emplace_back(from.filename().string(), std::nullopt);
            break;
        }
        case Call::unlink:
            name(moment, path, std::nullopt);
            break;
        case Call::link:
        case Call::rmdir:
            throw std::runtime_error("a call that is not replayed");
        default:
            break;
    }
}

void RecordedDisk::apply(const Change& change, std::string& contents) {
    if (change.length) return contents.resize(static_cast<std::size_t>(*change.length), '\0');
    const auto offset = static_cast<std::size_t>(change.offset);
    contents.resize(std::max(contents.size(), offset + change.data.size()), '\0');
    contents.replace(offset, change.data.size(), change.data);
}

std::string RecordedDisk::contents(const File& file, std::size_t moment, Left left, std::mt19937_64& random) const {
    std::string text;
    for (const Change& change : file.changes) {
        if (change.moment >= moment) break;
        if (change.synchronised < moment || left == Left::everything) {
            apply(change, text);
            continue;
        }
        if (left != Left::some) continue;
        Change part = change;
        const std::size_t half = draw(random, change.data.size() + 1);
        switch (draw(random, 4)) {
            case 0:
                continue;
            case 1:  // its beginning
                part.data.resize(half);
                break;
            case 2:  // its length, but not what was to stand there
                std::fill(part.data.begin() + static_cast<std::ptrdiff_t>(half), part.data.end(), '\0');
                break;
            default:
                break;
        }
        apply(part, text);
    }
    return text;
}

void RecordedDisk::restore(std::size_t moment, Left left, std::mt19937_64& random, const fs::path& target) const {
    fs::create_directories(target);
    for (const auto& [path, folder] : folders_) {  // a folder stands before what is in it
        const fs::path place = path == folder_ ? target : target / path.lexically_relative(folder_);
        if (!fs::is_directory(place)) continue;  // its name was lost
        std::size_t certain = 0;
        std::size_t possible = 0;
        for (const Naming& naming : folder.namings) {
            possible += naming.moment < moment ? 1 : 0;
            certain += naming.synchronised < moment ? 1 : 0;
        }
        std::size_t names = certain;
        if (left == Left::everything || left == Left::names) names = possible;
        if (left == Left::some) names += draw(random, possible - certain + 1);
        std::map<std::string, std::size_t> entries;
        for (std::size_t i = 0; i < names; ++i)
            for (const auto& [entry, file] : folder.namings[i].entries) {
                entries.erase(entry);
                if (file) entries[entry] = *file;
            }
        for (const auto& [entry, file] : entries) {
            if (file == folder_entry)
                fs::create_directory(place / entry);
            else
                std::ofstream(place / entry, std::ios::binary) << contents(files_[file], moment, left, random);
        }
    }
}

std::vector<std::string> RecordedDisk::kept(const fs::path& name, std::size_t moment) const {
    std::vector<std::string> all;
    const auto found = ever_named_.find(name);
    if (found == ever_named_.end()) return all;
    for (const std::size_t file : found->second) {
        std::string text;
        for (const Change& change : files_[file].changes)
            if (change.synchronised < moment) apply(change, text);
        if (!text.empty()) all.push_back(text);
    }
    return all;
}

}  // namespace hone::test
